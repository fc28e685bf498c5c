"""Loops derived from a cell's equation compute what rnnlab.cells says, whose gradient is written by hand."""

import numpy as np
import pytest
from emulated_gpu import compiler
from new_cells import NEW_CELLS
from two_files import copy_with_new_cells, emulated_errors_of, errors_of, run_in
from values_in import holds

from rnnlab import cells, reference
from rnnlab.cells import CELLS, Cell
from rnnlab.emit import files, numba_rows
from rnnlab.emit.body import suitable, work_of
from rnnlab.graphs.cells import EQUATIONS
from rnnlab.graphs.graph import sigmoid, tanh
from rnnlab.ladder import RUNGS
from rnnlab.ladder.properties import WITH_KERNELS
from rnnlab.network import Network


def test_every_derived_file_is_what_its_equation_says():
    assert files.derived()
    assert files.stale() == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of rnnlab in which two files were changed."""
    folder = tmp_path_factory.mktemp("two_files")
    copy_with_new_cells(folder)
    return folder


UNSUITED = "output_gru", "tied_peephole"
SUITED = [cell for cell in NEW_CELLS if cell not in UNSUITED]
WITH_LOOPS = [rung.name for rung in RUNGS if rung.properties.cells == WITH_KERNELS]
# rungs that exist compiled alone, or on a GPU alone: two tests below
ELSEWHERE = "packed_weights", "packed_bfloat16", "persistent_grid", "persistent_cluster"
FOR_ANY = [rung.name for rung in RUNGS if rung.properties.cells is None]


def assert_right(errors, rungs):
    assert errors.keys() == set(rungs)
    worst = {(rung, cell): error for rung, of_rung in errors.items() for cell, error in of_rung.items()}
    wrong = {key: error for key, error in worst.items() if not (isinstance(error, float) and error < 1e-14)}
    assert worst
    assert not wrong


def test_a_cell_in_two_files_runs_on_every_rung(folder):
    rungs = [rung for rung in (*FOR_ANY, *WITH_LOOPS, "inference") if rung not in ELSEWHERE]
    assert {"numba_fused", "numba_parallel", "persistent"} <= {*rungs}
    assert_right(errors_of(folder, SUITED, rungs, NUMBA_DISABLE_JIT="1"), rungs)


def test_a_cell_that_saves_two_numbers_or_reads_a_vector_twice_has_no_loops_but_plans(folder):
    errors = errors_of(folder, UNSUITED, [*FOR_ANY, *WITH_LOOPS], NUMBA_DISABLE_JIT="1")
    for rung in WITH_LOOPS:
        assert all(cell in reason for cell, reason in errors.pop(rung).items())
    assert_right(errors, FOR_ANY)


def test_derived_lines_of_new_cells_are_no_longer_than_others(folder):
    for name in files.SOURCES:
        if name.endswith(".py"):
            lines = (folder / "rnnlab/kernels" / name).read_text(encoding="utf-8").splitlines()
            assert max(map(len, lines)) <= 110


def test_narrow_weights_are_refused_for_a_cell_with_vectors(folder):
    program = "import two_files; two_files.print_narrow_steps('peephole_lstm', 'int8')"
    assert holds(run_in(folder, program), "int8", "peephole_lstm")


@pytest.mark.slow
def test_a_cell_in_two_files_is_compiled(folder):
    rungs = ["numba_fused", "packed_weights", "inference"]
    assert_right(errors_of(folder, SUITED, rungs), rungs)


EMULATED = [  # grids: warps, units of a block, pairs in shared memory, tiles at once; clusters: blocks
    ("minimal_gated", "tf32", (2, (8, 16), (1, 3), 2)),
    ("peephole_lstm", "bfloat16", (2,)),
    ("peephole_lstm", "tf32", (2, (8, 16), (1, 3), 2)),
    ("scaled_gru", "float16", (4,)),
    ("scaled_gru", "float16", (1, (16, 16), (1, 1), 2)),
    ("coupled_lstm", "tf32", (2, (8, 16), (0, 0), 1)),
    ("coupled_lstm", "float16", (4,)),
    ("inner_first", "bfloat16", (2,)),
    ("residual", "float16", (1, (16, 16), (1, 1), 2)),
]


@pytest.mark.skipif(compiler() is None, reason="needs a C++ compiler: pip install ziglang")
@pytest.mark.slow
def test_a_cell_in_two_files_runs_on_the_kernels_in_cuda_cpp(folder):
    errors = emulated_errors_of(folder, EMULATED)
    assert len(errors) == len(EMULATED)
    assert max(errors.values()) <= 1, errors


@pytest.mark.parametrize("cell", NEW_CELLS)
def test_the_gradients_of_new_cells_are_those_of_finite_differences(cell, monkeypatch):
    """The tests above compare with these, which are written by hand."""
    monkeypatch.setitem(CELLS, cell, NEW_CELLS[cell])
    network = Network.create(cell, 2, 3, gain=2.0, dtype="float64", seed=1)
    rng = np.random.default_rng(2)
    draw = lambda *shape: rng.normal(size=shape)
    states = [tuple(draw(1, 2, 3) for _ in network.properties.states) for _ in range(2)]
    x, dy, change = draw(4, 2, 2), draw(4, 2, 3), {k: draw(*p.shape) for k, p in network.parameters.items()}

    def loss(step):
        moved = network.with_parameters({k: p + step * change[k] for k, p in network.parameters.items()})
        y, final, _ = reference.forward(moved, x, states[0])
        return np.sum(y * dy) + sum(np.sum(a * b) for a, b in zip(final, states[1], strict=True))

    _, _, stored = reference.forward(network, x, states[0])
    gradients = reference.backward(network, stored, dy, states[1])[2]
    along = sum(np.sum(gradients[name] * change[name]) for name in gradients)
    assert along == pytest.approx((loss(1e-6) - loss(-1e-6)) / 2e-6, rel=1e-7)


def linear_candidate(g, x, h, t):
    z = g.name("z" + t, sigmoid(x @ g.W_z.T + h @ g.U_z.T + g.b_z))
    n = g.name("n" + t, x @ g.W_n.T + h @ g.U_n.T + g.b_n)
    return {"h": z * h + n}


def test_the_gradient_of_a_gate_without_a_function_is_that_of_finite_differences(monkeypatch):
    monkeypatch.setitem(CELLS, "linear", Cell("linear", ("z", "n"), ("h",)))
    monkeypatch.setitem(EQUATIONS, "linear", linear_candidate)
    names = {"njit": lambda **options: lambda function: function, "OPTIONS": {}, "sigmoid": cells.sigmoid}
    for direction in ("forward", "backward"):
        exec(numba_rows._function("linear", direction), names)
    rng = np.random.default_rng(3)
    a, recurrent, bias = rng.normal(size=(3, 6))
    h, dh = rng.normal(size=(2, 3))

    def step(a):
        gates, h_next = a.copy(), np.empty(3)
        names["linear"](gates, recurrent, bias, h, h_next)
        return gates, h_next

    dgates = np.empty(6)
    names["linear_backward"](step(a)[0], h, dh.copy(), dgates)
    moves = 1e-6 * np.eye(6)
    differences = [np.sum(dh * (step(a + move)[1] - step(a - move)[1])) / 2e-6 for move in moves]
    assert dgates == pytest.approx(differences, rel=1e-7)


@pytest.mark.parametrize("vector", ["a_r", "a_n", "da_r", "dr", "inner", "next_h"])
def test_a_vector_with_the_name_of_another_value_changes_no_result(vector, monkeypatch):
    def equation(g, x, h, t):
        r = g.name("r" + t, sigmoid(x @ g.W_r.T + h @ g.U_r.T + g.b_r))
        n = g.name("n" + t, tanh(x @ g.W_n.T + g.b_n + getattr(g, vector) * h + r * (h @ g.U_n.T + g.c_n)))
        return {"h": (1 - r) * h + r * n}

    cell = f"with_{vector}"
    monkeypatch.setitem(CELLS, cell, Cell(cell, ("n", "r"), ("h",), inner_bias="n", vectors=(vector,)))
    monkeypatch.setitem(EQUATIONS, cell, equation)
    names = {"njit": lambda **options: lambda function: function, "OPTIONS": {}}
    names |= {"sigmoid": cells.sigmoid, "tanh": np.tanh}
    for direction in ("forward", "backward"):
        exec(numba_rows._function(cell, direction), names)
    rng = np.random.default_rng(4)
    a, recurrent, bias = rng.normal(size=(3, 6))
    own, inner_bias, h, dh = rng.normal(size=(4, 3))
    vectors = np.concatenate([inner_bias, own])
    gates, saved, h_next = a.copy(), np.empty(3), np.empty(3)
    names[cell](gates, recurrent, bias, vectors, h, saved, h_next)
    r = cells.sigmoid(a[3:] + recurrent[3:] + bias[3:])
    n = np.tanh(a[:3] + bias[:3] + own * h + r * (recurrent[:3] + inner_bias))
    assert h_next == pytest.approx((1 - r) * h + r * n, rel=1e-12)

    dgates, dgates_h, dvectors = np.empty(6), np.empty(6), np.zeros(3)
    past = dh.copy()
    names[f"{cell}_backward"](gates, vectors, saved, h, past, dgates, dgates_h, dvectors)
    da_n = dh * r * (1 - n**2)
    da_r = (dh * (n - h) + da_n * saved) * r * (1 - r)
    assert dgates == pytest.approx(np.concatenate([da_n, da_r]), rel=1e-12)
    assert dgates_h == pytest.approx(np.concatenate([da_n * r, da_r]), rel=1e-12)
    assert dvectors == pytest.approx(da_n * h, rel=1e-12)
    assert past == pytest.approx(dh * (1 - r) + da_n * own, rel=1e-12)


def test_a_cell_with_two_products_a_step_has_no_loop():
    with pytest.raises(ValueError, match="gru_before"):
        work_of("gru_before", "forward")
    assert "gru_before" not in suitable()
    assert "min_gru" not in suitable()


def test_stored_machine_code_goes_when_a_loop_is_derived_anew(monkeypatch):
    """Numba looks at the file of a stored loop only, not at those of the functions that it calls."""
    from rnncourse import build

    cleared = []
    monkeypatch.setattr(build, "forget_compiled", cleared.append)
    for changed in ([], ["gates.py"]):
        monkeypatch.setattr(build.files, "write", lambda changed=changed: changed)
        build.build_loops(is_check=False)
    assert cleared == [build.ROOT]
