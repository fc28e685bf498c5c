"""Halide's schedules change the order of a network's work, just in time or ahead of it, never the result."""

import importlib.util
import shutil
from itertools import product

import numpy as np
import pytest
from both_ways import both_ways, by_reference, errors, problem
from values_in import holds

from bench.cmu import ahead_of_time
from bench.cmu.halide_contestants import KERNELS
from bench.halide import equations, published, registers
from bench.halide.kernels import Kernels
from bench.halide.network import Halide
from bench.peers import halide_network
from rnncourse.loop_nests.halide_target import host_target
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.network import Network

halide = pytest.mark.skipif(not importlib.util.find_spec("halide"), reason="Halide is not installed")


ODD_SIZES = 4, 11, 7, 18, 2  # T, B, I, H, L: no tile and no vector divides them
QUICK = [("rnn_tanh", "float32"), ("gru", "float32")]  # each cell is compiled anew for each dtype
OTHERS = [*product(("rnn_relu", "lstm"), ("float32",)), *product(equations.CELLS, ("float64",))]
SHAPES = [(1, 2, 3, 1, 1), (1, 3, 4, 5, 2), (7, 3, 2, 5, 1), (5, 1, 6, 3, 3), (12, 5, 3, 8, 2)]


@halide
@pytest.mark.parametrize(
    ("cell", "dtype"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in OTHERS)]
)
@pytest.mark.slow
def test_our_schedule_computes_the_references_numbers(cell, dtype):
    halide = Halide(cell, dtype)
    for shape in SHAPES:
        task = problem(cell, *shape, dtype=dtype)
        got = both_ways(halide, *task)
        assert max(errors(got, by_reference(*task))) < TOLERANCES[dtype].gradient
        strided = [task[0], task[1][:, ::-1].copy()[:, ::-1], *task[2:]]
        assert max(errors(both_ways(halide, *strided), got)) == 0


@halide
@pytest.mark.parametrize("schedule", published.NAMES)
@pytest.mark.slow
def test_every_published_schedule_computes_the_references_numbers(schedule):
    task = problem("rnn_tanh", *ODD_SIZES, dtype="float32")
    got = both_ways(Halide("rnn_tanh", schedule=schedule), *task)
    assert max(errors(got, by_reference(*task))) < TOLERANCES["float32"].gradient


@halide
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_published_schedule_runs_cells_with_gates_too(cell):
    task = problem(cell, *ODD_SIZES, dtype="float32")
    got = both_ways(Halide(cell, schedule="parallel_vectorised"), *task)
    assert max(errors(got, by_reference(*task))) < TOLERANCES["float32"].gradient


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
    with pytest.raises(OSError, match="cc, gcc, clang"):
        ahead_of_time.ahead_of_time({}, tmp_path / "rnn.so")


@halide
def test_the_products_really_done_are_those_that_the_docstring_counts(monkeypatch):
    monkeypatch.setattr("bench.halide.layers.BLOCK", 15)
    T, B, layers, blocks = 4, 11, 2, 3  # 44 rows
    network, x, state, dy, dstate = problem("rnn_relu", T, B, 7, 18, layers, dtype="float32")
    halide = Halide("rnn_relu", schedule="serial")  # as many under every schedule
    forward, backward = 1 + T, T + 2 + 2 * blocks
    _, _, saved = halide.forward(network, x, state)
    assert halide.kernels.products == layers * forward
    halide.backward(network, saved, dy, dstate)
    assert halide.kernels.products == layers * (forward + backward)


@halide
def test_tanh_in_vectors_is_as_good_as_float32_allows():
    kernels = Kernels({"step": equations.CELLS["rnn_tanh"]["step"]}, "ours", "float32")
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
    there_are = 32 if host_target().has_feature(hl.TargetFeature.AVX512_Skylake) else 16
    assert tile.rows * across + across + 1 <= there_are < (tile.rows + 1) * across + across + 1
    assert tile.rows >= 2


def test_a_network_that_the_kernels_cannot_run_is_refused():
    assert halide_network.refuses("halide", Network.create("gru", 2, 3), 1, 1) is None
    assert "after" in halide_network.refuses("halide", Network.create("gru", 2, 3, reset="before"), 1, 1)
    assert holds(halide_network.refuses("halide", Network.create("min_gru", 2, 3), 1, 1), "lstm", "min_gru")


@halide
def test_a_schedule_that_is_none_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="'fast'"):
        Halide("rnn_tanh", schedule="fast")
