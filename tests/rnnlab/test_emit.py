"""Loops derived from a cell's equation compute what rnnlab.cells says, whose gradient is written by hand."""

import numpy as np
import pytest
from new_cells import MINIMAL, minimal_gated_equation

from rnnlab import cells, reference
from rnnlab.cells import CELLS, Cell, Saved
from rnnlab.compare import relative_error
from rnnlab.emit import files, numba_rows
from rnnlab.emit.body import suitable, work_of
from rnnlab.graphs import cells as graph_cells
from rnnlab.graphs.graph import sigmoid, tanh
from rnnlab.network import Network

H = 7  # odd, and no multiple of a vector
TOLERANCE = {"float32": 2e-6, "float64": 1e-14}


def coupled_lstm(gates_x, gates_h, state):
    """An LSTM whose forget gate is 1 − i (Greff et al. 2017)."""
    _, c = state
    a_i, a_g, a_o = np.split(gates_x + gates_h, 3, -1)
    i = cells.sigmoid(a_i)
    g = np.tanh(a_g)
    o = cells.sigmoid(a_o)
    c = (1 - i) * c + i * g
    return (o * np.tanh(c), c), Saved(state, np.concatenate([i, g, o], -1), np.tanh(c))


def coupled_lstm_backward(dstate, saved):
    dh, dc = dstate
    _, c = saved.state
    i, g, o = np.split(saved.gates, 3, -1)
    tanh_c = saved.auxiliary
    dc = dc + dh * o * (1 - tanh_c**2)
    da = np.concatenate([dc * (g - c) * i * (1 - i), dc * i * (1 - g**2), dh * tanh_c * o * (1 - o)], -1)
    return da, da, (np.zeros_like(dh), dc * (1 - i))


def coupled_lstm_equation(g, x, h, t, c):
    i = g.name("i" + t, sigmoid(x @ g.W_i.T + h @ g.U_i.T + g.b_i))
    k = g.name("g" + t, tanh(x @ g.W_g.T + h @ g.U_g.T + g.b_g))
    o = g.name("o" + t, sigmoid(x @ g.W_o.T + h @ g.U_o.T + g.b_o))
    c_next = (1 - i) * c + i * k
    return {"h": o * tanh(c_next), "c": c_next}


NEW = {
    "mgu": (
        MINIMAL,
        minimal_gated_equation,
    ),
    "coupled_lstm": (
        Cell("coupled_lstm", ("i", "g", "o"), ("h", "c"), coupled_lstm, coupled_lstm_backward),
        coupled_lstm_equation,
    ),
}


def step_of(cell, dtype):
    """Arrays of a step by role, what cells.py says of them in float64, and the arrays that a loop writes."""
    facts = CELLS[cell]
    gates = len(facts.gates)
    rng = np.random.default_rng(11)
    draw = lambda size: rng.normal(size=size).astype(dtype)
    arrays = {"gates": draw(gates * H), "recurrent": draw(gates * H), "bias": draw(gates * H)}
    arrays |= {"inner_bias": draw(H), "h": draw(H), "c": draw(H), "dh": draw(H), "dc": draw(H)}
    arrays |= {name: np.full(H, np.nan, dtype) for name in ("saved", "h_next", "c_next")}
    arrays |= {name: np.full(gates * H, np.nan, dtype) for name in ("dgates", "dgates_h")}
    exact = {name: array.astype("float64") for name, array in arrays.items()}
    inner = np.zeros(gates * H)
    inner[facts.inner_bias_rows(H)] = exact["inner_bias"][: len(inner[facts.inner_bias_rows(H)])]
    state = tuple(exact[name] for name in facts.states)
    after, saved = facts.pointwise(exact["gates"] + exact["bias"], exact["recurrent"] + inner, state)
    dstate = tuple(exact["d" + name] for name in facts.states)
    dgates, dgates_h, before = facts.pointwise_backward(dstate, saved)
    wanted = {f"{name}_next": part for name, part in zip(facts.states, after, strict=True)}
    gradients = {"dgates": dgates, "dgates_h": dgates_h}
    gradients |= {f"d{name}": part for name, part in zip(facts.states, before, strict=True)}
    wanted |= {"gates": saved.gates, "saved": saved.auxiliary}
    return arrays, wanted, gradients


def errors_of_rows(functions, cell, dtype):
    """{(direction, array): its relative error} of everything that a cell's two loops write."""
    arrays, wanted, gradients = step_of(cell, dtype)
    errors = {}
    for direction, expected in (("forward", wanted), ("backward", gradients)):
        work = work_of(cell, direction)
        function = functions[numba_rows.function_name(cell, direction)]
        function(*(arrays[name] for name in numba_rows.arguments(work, direction)))
        written = {place.array for place in work.stores}
        errors |= {(direction, name): relative_error(arrays[name], expected[name]) for name in written}
    return errors


def test_every_derived_file_is_what_its_equation_says():
    assert files.derived()
    assert files.stale() == []


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("cell", ["rnn_tanh", "rnn_relu", "gru_after", "lstm"])
def test_a_derived_row_is_the_step_written_by_hand(cell, dtype):
    from rnnlab.kernels.compiled import gates

    errors = errors_of_rows(vars(gates), cell, dtype)
    assert ("forward", "h_next") in errors
    assert ("backward", "dgates") in errors
    assert max(errors.values()) < TOLERANCE[dtype]


@pytest.mark.parametrize("cell", NEW)
def test_the_loops_of_a_new_cell_follow_from_its_equation(cell, monkeypatch):
    facts, equation = NEW[cell]
    monkeypatch.setitem(CELLS, cell, facts)
    monkeypatch.setitem(graph_cells.EQUATIONS, cell, equation)
    assert cell in suitable()
    functions = {"tanh": np.tanh, "sigmoid": cells.sigmoid}
    text = numba_rows.source().split("OPTIONS = ", 1)[1].split("\n", 1)[1].replace("@njit(**OPTIONS)\n", "")
    exec(text, functions)
    errors = errors_of_rows(functions, cell, "float64")
    assert len(errors) >= 5
    assert max(errors.values()) < TOLERANCE["float64"]


@pytest.mark.parametrize("cell", ["rnn_tanh", "rnn_relu", "gru", "lstm"])
def test_derived_vectors_are_the_step_written_by_hand(cell):
    from rnnlab.kernels.packed import passes

    network = Network.create(cell, 3, H, gain=2.0, seed=5, dtype="float64")
    rng = np.random.default_rng(12)
    x = rng.normal(size=(4, 3, 3))
    state = tuple(rng.normal(size=(1, 3, H)) for _ in network.facts.states)
    dy = rng.normal(size=(4, 3, H))
    y, final, saved = passes.forward(network, x, state, 1)
    want_y, want_final, want_saved = reference.forward(network, x, state)
    dx, dstate, gradients = passes.backward(network, saved, dy, state, 1)
    want_dx, want_dstate, wanted = reference.backward(network, want_saved, dy, state)
    pairs = [(y, want_y), (dx, want_dx), *zip(final + dstate, want_final + want_dstate, strict=True)]
    pairs += [(gradients[name], wanted[name]) for name in wanted]
    assert max(relative_error(*pair) for pair in pairs) < 1e-13


def test_a_cell_with_two_products_a_step_has_no_loop():
    with pytest.raises(ValueError, match="gru_before"):
        work_of("gru_before", "forward")
    assert "gru_before" not in suitable()
    assert "min_gru" not in suitable()
