"""Halide's schedules change the order of a network's work, just in time or ahead of it, never the result."""

import importlib.util
import shutil

import numpy as np
import pytest
from values_in import holds

from bench.cmu import ahead_of_time, schedules
from bench.cmu.halide_contestants import KERNELS
from rnnlab.cells import find_cell
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.kernels.halide import equations, registers
from rnnlab.kernels.halide.kernels import Kernels
from rnnlab.kernels.halide.target import host_target
from rnnlab.ladder import find, halide_scheduled
from rnnlab.ladder.facts import LedgerSizes
from rnnlab.network import Network

halide = pytest.mark.skipif(not importlib.util.find_spec("halide"), reason="Halide is not installed")


def problem(cell, dtype="float32", T=4, B=11, I=7, H=18, layers=2):
    """A network, and x, state, dy, dstate for it; sizes that no tile and no vector divides."""
    network, rng = Network.create(cell, I, H, layers, dtype=dtype, gain=2.0), np.random.default_rng(T)
    draw = lambda *shape: rng.normal(size=shape).astype(dtype)
    state, dstate = (tuple(0.5 * draw(layers, B, H) for _ in find_cell(cell).states) for _ in range(2))
    return network, 2 * draw(T, B, I), state, draw(T, B, H), dstate


@halide
@pytest.mark.parametrize("schedule", schedules.NAMES)
def test_every_schedule_of_the_project_computes_the_same_product(schedule):
    import halide as hl

    pipeline = KERNELS["output"](hl, schedule)
    a, b = (np.random.default_rng(0).normal(size=shape).astype("float32") for shape in ((9, 70), (70, 21)))
    got = np.empty((9, 21), "float32")
    pipeline.func.compile_to_callable(pipeline.arguments, host_target())(a, b, got)
    assert relative_error(got, np.tanh(a.astype(float) @ b)) < TOLERANCES["float32"].gradient


@halide
@pytest.mark.skipif(not any(map(shutil.which, ahead_of_time.LINKERS)), reason="no linker is installed")
def test_ahead_of_time_gives_the_same_bits_as_just_in_time(tmp_path):
    import halide as hl

    pipeline, library = KERNELS["output"](hl, "all"), tmp_path / "output.so"
    a, b = (np.random.default_rng(0).normal(size=shape).astype("float32") for shape in ((9, 70), (70, 21)))
    ahead, just = (np.empty((9, 21), "float32") for _ in range(2))
    run = ahead_of_time.ahead_of_time({"output": pipeline}, library)["output"]
    run(a, b, ahead)
    pipeline.func.compile_to_callable(pipeline.arguments, host_target())(a, b, just)
    assert np.array_equal(ahead, just)
    assert [*tmp_path.iterdir()] == [library]
    assert relative_error(ahead, np.tanh(a.astype(float) @ b)) < 1e-5
    with pytest.raises(ValueError, match=r"output: .*a1"):
        ahead_of_time.load(library, ["output"])["output"](a, b[1:], ahead)


@halide
def test_without_a_linker_ahead_of_time_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(ahead_of_time.shutil, "which", lambda program: None)
    with pytest.raises(OSError, match=r"no linker \(cc, gcc, clang\) is installed.*just in time instead"):
        ahead_of_time.ahead_of_time({}, tmp_path / "rnn.so")


@halide
def test_the_ledger_counts_the_products_really_done(monkeypatch):
    monkeypatch.setattr("rnnlab.kernels.halide.layers.BLOCK", 15)
    network, x, state, dy, dstate = problem("rnn_relu", T=4, B=11, layers=2)
    rung, kernels = halide_scheduled, halide_scheduled.compiled("rnn_relu", "float32")
    before = kernels.products
    sizes, ledger = LedgerSizes(4, B=11, H=18, G=1), halide_scheduled.FACTS.ledger  # 44 rows: 3 blocks
    forward, backward = ledger.forward(sizes), ledger.backward(sizes)
    assert backward == 4 + 2 + 2 * 3
    _, _, saved = rung.forward(network, x, state)
    assert kernels.products - before == 2 * forward
    rung.backward(network, saved, dy, dstate)
    assert kernels.products - before == 2 * (forward + backward)


@halide
def test_tanh_in_vectors_is_as_good_as_float32_allows():
    kernels = Kernels({"step": equations.CELLS["rnn_tanh"]["step"]}, "float32")
    a = np.concatenate([np.linspace(-12, 12, 9001), np.geomspace(1e-30, 1, 999), [-1e30, 0.0]])
    a = a.astype("float32").reshape(-1, 2)
    empty, got = np.empty((len(a), 0), "float32"), np.empty_like(a)
    kernels.multiply("step", empty, kernels.operand(np.zeros((1, 2), "float32")), a, got)
    want = np.tanh(a.astype("float64"))
    last_place = np.spacing(np.abs(want).astype("float32"))
    assert np.max(np.abs(got - want) / last_place) < 4


@halide
@pytest.mark.parametrize("gates", [1, 3, 4])
def test_the_sums_of_a_tile_leave_registers_for_a_step_of_k(gates):
    import halide as hl

    tile = registers.tile(hl, "float32", gates)
    across = gates * tile.width // tile.vector
    assert tile.rows * across + across + 1 <= 32
    assert tile.rows >= 3


def test_without_halide_the_rung_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda package: None)
    text = find("halide_scheduled").refuses(Network.create("lstm", 2, 3), 1, 1)
    assert holds(text, "--constraint", "halide")
