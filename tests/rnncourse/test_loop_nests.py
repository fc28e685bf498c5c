"""A schedule given as plain data changes the order of a product's work and never its result."""

import importlib.util
import os
import re

import numpy as np
import pytest
from values_in import holds

from nbjudge.authoring.course import ROOT
from rnncourse import loop_nests
from rnncourse.loop_nests import SERIAL, in_numba, read
from rnncourse.loop_nests.race import race
from rnnlab.compare import relative_error

INSTALLED = [name for name in loop_nests.ENGINES if importlib.util.find_spec(name)]
SIZES = (12, 48, 20)
SCHEDULES = [
    {},
    {"order": "nkm"},
    {"order": "kmn", "tile": {"k": 4}},
    {"order": "mkn", "tile": {"n": 16}, "vectorise": 16, "parallel": True},
    {"order": "mkn", "tile": {"m": 2, "n": 24, "k": 5}, "vectorise": 8},
    {"order": "mnk", "tile": {"m": 5, "n": 32, "k": 2}, "vectorise": 16},  # neither divides its extent
    {"order": "nmk", "tile": {"m": 4, "n": 16}, "vectorise": 8, "parallel": True},
]


def product(schedule, by, sizes=SIZES):
    """What the engine computes under that schedule, and the same in float64."""
    M, N, K = sizes
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(M, K)).astype("float32"), rng.normal(size=(K, N)).astype("float32")
    out = np.full((M, N), np.nan, "float32")
    loop_nests.build(schedule, sizes, by)(a, b, out)
    return out, a.astype("float64") @ b


@pytest.mark.corpus
@pytest.mark.parametrize("by", INSTALLED)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_every_order_of_work_gives_the_same_product(schedule, by):
    got, want = product(schedule, by)
    assert relative_error(got, want) < 1e-6


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ([], "a schedule is a dictionary, got list"),
        ({"tiles": {}}, "has order, tile, vectorise, parallel, not tiles"),
        ({"order": "mnn"}, "expected m, n and k once each"),
        ({"parallel": 2}, "parallel is 2, expected True or False"),
        ({"order": "kmn", "parallel": True}, "threads would add to the same sums at once"),
        ({"tile": {"j": 2}}, "expected sizes for some of m, n, k"),
        ({"tile": {"m": 0}}, "the tile's m is 0, expected a whole number of at least 1"),
        ({"tile": {"m": 13}}, "the tile's m is 13, but there are only 12"),
        ({"tile": {"k": 3}}, "the tile's k is 3, which does not divide K = 20"),
        ({"order": "mkn", "tile": {"m": 5}}, "the tile's m is 5, which does not divide M = 12"),
        ({"vectorise": 3}, "vectorise is 3, expected a power of two"),
        ({"vectorise": 8}, "the tile's n is 1, which vectors of 8 do not fill"),
        ({"tile": {"m": 12, "n": 48}}, "a tile of 12 × 48 × 1 is 576 instructions, more than 512"),
    ],
)
def test_an_impossible_schedule_is_refused_with_its_reason(schedule, message):
    with pytest.raises(ValueError, match=message):
        read(schedule, SIZES)


def test_what_a_schedule_leaves_out_is_serial():
    assert read({}, SIZES) == read(SERIAL, SIZES)
    assert read({}, SIZES).keeps_sums


def test_the_twin_shows_the_loops_it_compiles():
    text = in_numba.source(read({"order": "nmk", "tile": {"m": 2, "n": 8}, "parallel": True}, SIZES))
    assert "for no in prange(" in text
    assert text.index("for no") < text.index("for mo")
    assert text.count("s1[j] +=") == 1


def test_an_engine_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"halide.*numba.*'fortran'"):
        loop_nests.build({}, SIZES, "fortran")


@pytest.mark.skipif(not INSTALLED, reason="neither Halide nor Numba is installed")
def test_a_race_compares_with_the_serial_schedule_of_the_same_engine():
    run = race({"order": "mnk", "tile": {"n": 16}, "vectorise": 16}, sizes=SIZES, rounds=2)
    assert run.engine == INSTALLED[0]
    assert run.ratio == pytest.approx(run.serial / run.chosen)
    assert run.flops == 2 * 12 * 48 * 20
    assert "times the serial schedule" in str(run)


def test_a_compiler_that_crashes_leaves_lesson_07_running(monkeypatch, capsys):
    """Its cell says which signal ended the compiler's process, and continues."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "tests/crashing_halide"), str(ROOT)]))
    monkeypatch.syspath_prepend(str(ROOT / "tests/crashing_halide"))
    source = (ROOT / "notebooks/source/07_parallel_cpu.py").read_text(encoding="utf-8")
    cell = next(cell for cell in re.split("^# %%.*\n", source, flags=re.M) if "call_apart(race_all" in cell)
    code = cell.replace('("numba", "halide")', '("halide",)')
    names = {}
    exec(code, names)
    assert holds(capsys.readouterr().out, "halide", "SIGILL")
    assert names["raced"] == {}
