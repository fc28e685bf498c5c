"""A cell that no rung was written for: a rung computes the reference's numbers, or refuses in a sentence."""

import numpy as np
import pytest
from new_cells import MINIMAL
from new_equations import NEW_EQUATIONS
from test_ladder import CPU_RUNGS, in_float64

from pocketgpu import cuda
from rnnlab import cells, reference
from rnnlab.cells import Cell, SavedStep
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.graphs import cells as graph_cells
from rnnlab.ladder import RUNGS
from rnnlab.network import Network

SIZES = T, B, I, H, L = 6, 5, 3, 4, 2


def softsign(gates_x, gates_h, state):
    a = gates_x + gates_h
    h = a / (1 + np.abs(a))
    return (h,), SavedStep(state, h, None)


def softsign_backward(dstate, saved):
    da = dstate[0] * (1 - np.abs(saved.gates)) ** 2
    return da, da, (np.zeros_like(da),)


SOFTSIGN = Cell("softsign", ("h",), ("h",), softsign, softsign_backward)


@pytest.fixture(params=[MINIMAL, SOFTSIGN], ids=lambda cell: cell.mode)
def cell(request, monkeypatch):
    """A new cell, known to rnnlab.cells; only the minimal gated unit has a graph."""
    monkeypatch.setitem(cells.CELLS, request.param.name, request.param)
    if request.param is MINIMAL:
        monkeypatch.setitem(graph_cells.EQUATIONS, MINIMAL.name, NEW_EQUATIONS[MINIMAL.name])
    with cuda.settings(checks=False):
        yield request.param


def problem(cell, dtype="float32"):
    rng = np.random.default_rng(7)
    draw = lambda *size: rng.normal(size=size).astype(dtype)
    network = Network.create(cell.mode, I, H, L, dtype=dtype, gain=2.0, seed=3)
    return network, draw(T, B, I), (0.5 * draw(L, B, H),), draw(T, B, H), (draw(L, B, H),)


def test_the_reference_differentiates_a_new_cell(cell):
    network, x, state, dy, dstate = problem(cell, "float64")
    weight, step = network.parameters["weight_hh_l0"], 1e-6

    def loss():
        y, final, _ = reference.forward(network, x, state)
        return np.sum(y * dy) + sum(np.sum(a * b) for a, b in zip(final, dstate, strict=True))

    _, _, saved = reference.forward(network, x, state)
    gradient = reference.backward(network, saved, dy, dstate)[2]["weight_hh_l0"]
    numeric = np.empty_like(weight)
    for place in np.ndindex(weight.shape):
        value = weight[place]
        weight[place] = value + step
        above = loss()
        weight[place] = value - step
        numeric[place] = (above - loss()) / (2 * step)
        weight[place] = value
    assert relative_error(gradient, numeric) < 1e-7


@pytest.mark.parametrize("rung", CPU_RUNGS, ids=lambda rung: rung.name)
def test_a_rung_is_right_for_a_new_cell_or_refuses_it(rung, cell):
    network, x, state, dy, dstate = problem(cell)
    if rung.refuses(network, T, B):
        if rung.facts.cells != ("gru",):  # those five are GRU's equations, rewritten
            with pytest.raises(ValueError, match=cell.mode):
                rung.module.forward(network, x, state)
        return
    y, _, saved = rung.module.forward(network, x, state)
    dx, _, gradients = rung.module.backward(network, saved, dy, dstate)
    exact = network.astype("float64")
    want_y, _, stored = reference.forward(exact, x.astype("float64"), in_float64(state))
    want_dx, _, want = reference.backward(exact, stored, dy.astype("float64"), in_float64(dstate))
    tolerance = TOLERANCES["float32"]
    assert relative_error(y, want_y) <= tolerance.forward(T)
    assert relative_error(dx, want_dx) <= tolerance.gradient
    assert max(relative_error(gradients[name], want[name]) for name in want) <= tolerance.gradient


def test_only_rungs_that_compute_any_equation_run_a_new_cell(cell):
    network = problem(cell)[0]
    ran = {rung.name for rung in RUNGS if rung.refuses(network, T, B) is None}
    plans = {rung.name for rung in RUNGS if rung.facts.passes is not None}
    generic = {rung.name for rung in RUNGS if rung.facts.cells is None} - plans
    assert {"one_step_at_a_time", "one_big_gemm"} <= generic
    assert ran == (generic | plans if cell is MINIMAL else generic)
