"""One step of a few sequences in one compiled call, with the weights read in the rows of PyTorch's layout.

x [B,I], states h and c [L,B,H], weights [G·H,I] and [G·H,H].  h_next and c_next [L,B,H] are written at one
layer; a cell without c is given h in its place.  Calling a BLAS costs more than the products of small
weights; `finish` is for products that a BLAS has computed.  `one_step(cell)` has both functions.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit

from rnnlab.kernels.cells import KERNEL_PROPERTIES
from rnnlab.kernels.compiled.gates import ROWS
from rnnlab.kernels.compiled.of_cell import compiled_for
from rnnlab.kernels.compiled.recurrence import product_by_rows
from rnnlab.kernels.compiled.rows import OPTIONS

# of the cell: `one_step` gives each copy of the two functions below its own
rows_forward = finish = saves = gates = inner = own_vectors = None


class OneStep(NamedTuple):
    """The two functions of a cell."""

    # (x, weight_ih, weight_hh, bias_ih, bias_hh, own, layer, h, c, h_next, c_next): the layer's h_next and
    # c_next; False if x or its state holds a number that is not finite, or if a parameter does not fit; own
    # are the cell's own vectors, one after the other
    step: Callable
    # (gates_x, gates_h, bias_ih, bias_hh, own, h, c, h_next, c_next): the same from the products, which are
    # changed: gates_h [B,G·H], and all others, as the states, with an axis of one step before it, [1,B,·]
    finish: Callable


@cache
def one_step(cell: str) -> OneStep:
    """The compiled functions of a cell in KERNEL_PROPERTIES."""
    properties = KERNEL_PROPERTIES[cell]
    end = compiled_for(cell, _finish, rows_forward=ROWS[cell].forward, **properties._asdict())
    return OneStep(compiled_for(cell, _step, finish=end, **properties._asdict()), end)


def _step(x, weight_ih, weight_hh, bias_ih, bias_hh, own, layer, h, c, h_next, c_next):
    B, I = x.shape
    H = h.shape[2]
    rows = gates * H
    fits = (
        weight_ih.shape == (rows, I)
        and weight_hh.shape == (rows, H)
        and bias_ih.size == rows
        and bias_hh.size == rows
        and (own_vectors == 0 or own.size == own_vectors * H)
    )
    if not (fits and is_finite(x) and is_finite(h[layer]) and is_finite(c[layer])):
        return False
    gates_x = np.empty((1, B, rows), x.dtype)
    gates_h = np.empty((B, rows), x.dtype)
    product_by_rows(x, weight_ih, gates_x[0])
    product_by_rows(h[layer], weight_hh, gates_h)
    part = slice(layer, layer + 1)
    finish(gates_x, gates_h, bias_ih, bias_hh, own, h[part], c[part], h_next[part], c_next[part])
    return True


@njit(**OPTIONS)
def is_finite(values):
    """Is every number of values [B,n] finite?  It counts: a loop that ends early gets no vectors."""
    others = 0
    for row in values:
        for value in row:
            others += not abs(value) < np.inf
    return others == 0


def _finish(gates_x, gates_h, bias_ih, bias_hh, own, h, c, h_next, c_next):
    for row in gates_h:
        for j in range(bias_hh.size):
            row[j] += bias_hh[j]
    saved = np.empty_like(h) if saves else h  # for a gradient that nobody asks for
    vectors = own
    H = h.shape[2]
    if inner >= 0:  # the inner bias is in gates_h
        vectors = np.zeros((own_vectors + 1) * H, h.dtype)
        vectors[H:] = own[: own_vectors * H]
    rows_forward(0, 0, 0, gates_x, gates_h, bias_ih, vectors, h, c, saved, c_next, h_next)
