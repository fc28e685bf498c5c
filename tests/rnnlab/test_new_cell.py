"""A cell without an equation: rungs that call its step compute the reference's numbers, all others refuse it.

test_emit.py has cells with an equation.
"""

import numpy as np
import pytest
from both_ways import both_ways, by_reference, errors, problem
from test_ladder import CPU_RUNGS

from rnnlab import cells
from rnnlab.cells import Cell, SavedStep
from rnnlab.compare import TOLERANCES

T, B = 6, 5
GENERIC = "one_step_at_a_time", "one_big_gemm"


def softsign(gates_x, gates_h, state):
    a = gates_x + gates_h
    h = a / (1 + np.abs(a))
    return (h,), SavedStep(state, h, None)


def softsign_backward(dstate, saved):
    da = dstate[0] * (1 - np.abs(saved.gates)) ** 2
    return da, da, (np.zeros_like(da),)


@pytest.mark.parametrize("rung", CPU_RUNGS, ids=lambda rung: rung.name)
def test_a_rung_is_right_for_a_cell_without_an_equation_or_refuses_it(rung, monkeypatch):
    softsign_cell = Cell("softsign", ("h",), ("h",), softsign, softsign_backward)
    monkeypatch.setitem(cells.CELLS, "softsign", softsign_cell)
    example = network, *inputs = problem("softsign", T, B, 3, 4, 2, dtype="float32")
    assert (rung.refuses(network, T, B) is None) == (rung.name in GENERIC)
    if rung.name not in GENERIC:
        if rung.properties.cells != ("gru",):  # those five are GRU's equations, rewritten
            with pytest.raises(ValueError, match="softsign"):
                rung.module.forward(network, *inputs[:2])
        return
    of_outputs, of_gradients = errors(both_ways(rung.module, *example), by_reference(*example))
    tolerance = TOLERANCES["float32"]
    assert of_outputs <= tolerance.forward(T)
    assert of_gradients <= tolerance.gradient
