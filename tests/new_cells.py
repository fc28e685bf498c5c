"""Cells that rnnlab does not have, as in rnnlab/cells.py; new_equations.py has their equations."""

import numpy as np

from rnnlab.cells import Cell, SavedStep, sigmoid


def minimal_gated(gates_x, gates_h, state):
    """h' = (1 − f)·h + f·n of a minimal gated unit (Zhou et al. 2016), f after the candidate's product."""
    (h,) = state
    f_x, n_x = np.split(gates_x, 2, -1)
    f_h, n_h = np.split(gates_h, 2, -1)
    f = sigmoid(f_x + f_h)
    n = np.tanh(n_x + f * n_h)
    return ((1 - f) * h + f * n,), SavedStep(state, np.concatenate([f, n], -1), n_h)


def minimal_gated_backward(dstate, saved):
    (h,) = saved.state
    (dh,) = dstate
    f, n = np.split(saved.gates, 2, -1)
    dn = dh * f * (1 - n**2)
    df = (dh * (n - h) + dn * saved.auxiliary) * f * (1 - f)
    return np.concatenate([df, dn], -1), np.concatenate([df, dn * f], -1), (dh * (1 - f),)


def peephole_lstm(gates_x, gates_h, state):
    """An LSTM whose gates see c through peepholes (Gers and Schmidhuber 2000), here of weight 1."""
    _, c = state
    a_i, a_f, a_g, a_o = np.split(gates_x + gates_h, 4, -1)
    i = sigmoid(a_i + c)
    f = sigmoid(a_f + c)
    g = np.tanh(a_g)
    c = f * c + i * g
    o = sigmoid(a_o + c)
    return (o * np.tanh(c), c), SavedStep(state, np.concatenate([i, f, g, o], -1), c)


def peephole_lstm_backward(dstate, saved):
    dh, dc = dstate
    _, c = saved.state
    i, f, g, o = np.split(saved.gates, 4, -1)
    tanh_c = np.tanh(saved.auxiliary)
    do = dh * tanh_c * o * (1 - o)
    dc = dc + dh * o * (1 - tanh_c**2) + do
    di = dc * g * i * (1 - i)
    df = dc * c * f * (1 - f)
    da = np.concatenate([di, df, dc * i * (1 - g**2), do], -1)
    return da, da, (np.zeros_like(dh), dc * f + di + df)


def coupled_lstm(gates_x, gates_h, state):
    """An LSTM whose forget gate is 1 − i (Greff et al. 2017), with h added to the output: h and c go past."""
    h, c = state
    a_i, a_g, a_o = np.split(gates_x + gates_h, 3, -1)
    i = sigmoid(a_i)
    g = np.tanh(a_g)
    o = sigmoid(a_o)
    c = (1 - i) * c + i * g
    return (o * np.tanh(c) + h, c), SavedStep(state, np.concatenate([i, g, o], -1), np.tanh(c))


def coupled_lstm_backward(dstate, saved):
    dh, dc = dstate
    _, c = saved.state
    i, g, o = np.split(saved.gates, 3, -1)
    tanh_c = saved.auxiliary
    dc = dc + dh * o * (1 - tanh_c**2)
    da = np.concatenate([dc * (g - c) * i * (1 - i), dc * i * (1 - g**2), dh * tanh_c * o * (1 - o)], -1)
    return da, da, (dh, dc * (1 - i))


def inner_first(gates_x, gates_h, state):
    """h' = h + z·n, n first among the gates, z after its product: one gate is stored apart from h."""
    (h,) = state
    n_x, z_x = np.split(gates_x, 2, -1)
    n_h, z_h = np.split(gates_h, 2, -1)
    z = sigmoid(z_x + z_h)
    n = np.tanh(n_x + z * n_h)
    return (h + z * n,), SavedStep(state, np.concatenate([n, z], -1), n_h)


def inner_first_backward(dstate, saved):
    (dh,) = dstate
    n, z = np.split(saved.gates, 2, -1)
    dn = dh * z * (1 - n**2)
    dz = (dh * n + dn * saved.auxiliary) * z * (1 - z)
    return np.concatenate([dn, dz], -1), np.concatenate([dn * z, dz], -1), (dh,)


def residual(gates_x, gates_h, state):
    """h' = h + n, n = tanh(a): one gate, which is not the next h."""
    (h,) = state
    n = np.tanh(gates_x + gates_h)
    return (h + n,), SavedStep(state, n, None)


def residual_backward(dstate, saved):
    (dh,) = dstate
    da = dh * (1 - saved.gates**2)
    return da, da, (dh,)


def output_gru(gates_x, gates_h, state):
    """h' = o·s, s = (1 − z)·n + z·h, n after z's product: two numbers are saved beside gates and h."""
    (h,) = state
    z_x, n_x, o_x = np.split(gates_x, 3, -1)
    z_h, n_h, o_h = np.split(gates_h, 3, -1)
    z = sigmoid(z_x + z_h)
    n = np.tanh(n_x + z * n_h)
    o = sigmoid(o_x + o_h)
    return (o * ((1 - z) * n + z * h),), SavedStep(state, np.concatenate([z, n, o], -1), n_h)


def output_gru_backward(dstate, saved):
    (h,) = saved.state
    (dh,) = dstate
    z, n, o = np.split(saved.gates, 3, -1)
    do = dh * ((1 - z) * n + z * h) * o * (1 - o)
    ds = dh * o
    dn = ds * (1 - z) * (1 - n**2)
    dz = (ds * (h - n) + dn * saved.auxiliary) * z * (1 - z)
    return np.concatenate([dz, dn, do], -1), np.concatenate([dz, dn * z, do], -1), (ds * z,)


MINIMAL = Cell("minimal_gated", ("f", "n"), ("h",), minimal_gated, minimal_gated_backward, inner_bias="n")
NEW_CELLS = {
    cell.name: cell
    for cell in (
        MINIMAL,
        Cell("peephole_lstm", ("i", "f", "g", "o"), ("h", "c"), peephole_lstm, peephole_lstm_backward),
        Cell("coupled_lstm", ("i", "g", "o"), ("h", "c"), coupled_lstm, coupled_lstm_backward),
        Cell("inner_first", ("n", "z"), ("h",), inner_first, inner_first_backward, inner_bias="n"),
        Cell("residual", ("n",), ("h",), residual, residual_backward),
        Cell("output_gru", ("z", "n", "o"), ("h",), output_gru, output_gru_backward, inner_bias="n"),
    )
}
