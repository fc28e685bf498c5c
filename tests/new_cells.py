"""A cell that rnnlab does not have, with its equation and its gradient: what a new cell takes."""

import numpy as np

from rnnlab import cells
from rnnlab.cells import Cell, Saved
from rnnlab.graphs.graph import sigmoid, tanh


def minimal_gated(gates_x, gates_h, state):
    """h' = (1 − f)·h + f·n of a minimal gated unit (Zhou et al. 2016), f after the candidate's product."""
    (h,) = state
    units = h.shape[-1]
    f = cells.sigmoid(gates_x[..., :units] + gates_h[..., :units])
    h_n = gates_h[..., units:].copy()
    n = np.tanh(gates_x[..., units:] + f * h_n)
    return ((1 - f) * h + f * n,), Saved(state, np.concatenate([f, n], -1), h_n)


def minimal_gated_backward(dstate, saved):
    (h,) = saved.state
    (dh,) = dstate
    f, n = np.split(saved.gates, 2, -1)
    dn = dh * f * (1 - n**2)
    df = (dh * (n - h) + dn * saved.auxiliary) * f * (1 - f)
    return np.concatenate([df, dn], -1), np.concatenate([df, dn * f], -1), (dh * (1 - f),)


def minimal_gated_equation(g, x, h, t):
    f = g.name("f" + t, sigmoid(x @ g.W_f.T + h @ g.U_f.T + g.b_f))
    n = g.name("n" + t, tanh(x @ g.W_n.T + g.b_n + f * (h @ g.U_n.T + g.c_n)))
    return {"h": (1 - f) * h + f * n}


MINIMAL = Cell("mgu", ("f", "n"), ("h",), minimal_gated, minimal_gated_backward, inner_bias="n")
