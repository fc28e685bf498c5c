"""One step of a few sequences in one compiled call, with the weights read in the rows of PyTorch's layout.

x [B,I], states h and c [L,B,H], weights [G·H,I] and [G·H,H].  h_next and c_next [L,B,H] are written at one
layer; a cell without c is given h in its place.  Calling a BLAS costs more than the products of small
weights; `finish` is for products that a BLAS has computed.
"""

import numpy as np
from numba import njit

from rnnlab.cells import KINDS
from rnnlab.kernels.compiled import rows
from rnnlab.kernels.compiled.recurrence import OPTIONS, product_by_rows

RELU = KINDS["rnn_relu"]
GRU = KINDS["gru_after"]
LSTM = KINDS["lstm"]


@njit(**OPTIONS)
def step(kind, x, weight_ih, weight_hh, bias_ih, bias_hh, layer, h, c, h_next, c_next):
    """The layer's h_next and c_next; False if x or its state holds a number that is not finite."""
    h = h[layer]
    c = c[layer]
    h_next = h_next[layer]
    c_next = c_next[layer]
    if not (is_finite(x) and is_finite(h) and is_finite(c)):
        return False
    gates_x = np.empty((len(x), len(weight_ih)), x.dtype)
    gates_h = np.empty((len(x), len(weight_hh)), x.dtype)
    product_by_rows(x, weight_ih, gates_x)
    product_by_rows(h, weight_hh, gates_h)
    finish(kind, gates_x, gates_h, bias_ih, bias_hh, h, c, h_next, c_next)
    return True


@njit(**OPTIONS)
def is_finite(values):
    """Is every number of values [B,n] finite?"""
    for row in values:
        for value in row:
            if not np.isfinite(value):
                return False
    return True


@njit(**OPTIONS)
def finish(kind, gates_x, gates_h, bias_ih, bias_hh, h, c, h_next, c_next):
    """h_next and c_next from the products [B,G·H], which are changed."""
    for row in gates_h:
        for j in range(row.size):
            row[j] += bias_hh[j]
    if kind == LSTM:
        rows.lstm(gates_x, gates_h, bias_ih, c, c_next, h_next)
    elif kind == GRU:
        inner = np.empty_like(h)  # for a gradient that nobody asks for
        rows.gru(gates_x, gates_h, bias_ih, np.zeros(h.shape[1], h.dtype), h, inner, h_next)
    else:
        rows.rnn(kind == RELU, gates_x, gates_h, bias_ih, h_next)
