"""The loop over time, compiled, for sequences lo … hi of the minibatch: nothing in it returns to Python.

gates [T,B,G·H] holds the input products and is left holding the gates; h [T+1,B,H] (and c) has its first
block given.  The recurrent product is BLAS's, on weights laid out as it likes them best, [H,G·H].  For a
single sequence it is a matrix times a vector, where calling BLAS costs more than the work, and forward reads
the rows of the weights where they lie, [G·H,H]: `by_rows` says which of the two.  Backward writes the
gradients before the nonlinearities, dgates [T,B,G·H], adds their sum to db [G·H], and leaves dh [B,H] and
dc [B,H] as the gradients of the initial state; dgates_h and db_h are those of the recurrent product, the same
arrays where a cell does not tell them apart.  vectors [V·H] are numbers of each unit beside bias [G·H];
dvectors is added to, the gradient of those that are the cell's own.

`loops(cell)` has both loops of a cell, whose arguments are those of every cell: where it has no c or saves
nothing, any array with as many rows may take the place, such as h.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit

from rnnlab.kernels.cells import KERNEL_PROPERTIES
from rnnlab.kernels.compiled.gates import ROWS
from rnnlab.kernels.compiled.of_cell import compiled_for, with_names
from rnnlab.kernels.compiled.rows import OPTIONS


@njit(**OPTIONS)
def product(rows, weights, out):
    """out [n,N] = rows [n,K] weights [K,N]."""
    if len(rows) == 1:
        vector_product(rows[0], weights, out[0])
    else:
        np.dot(rows, weights, out)


@njit(**OPTIONS)
def vector_product(vector, weights, out):
    """out [N] = vector [K] weights [K,N]: four rows of weights in one pass over `out`."""
    K, N = weights.shape
    out[:] = 0
    for k in range(0, K - K % 4, 4):
        a = vector[k]
        b = vector[k + 1]
        c = vector[k + 2]
        d = vector[k + 3]
        rows = weights[k : k + 4]
        for j in range(N):
            out[j] += a * rows[0, j] + b * rows[1, j] + c * rows[2, j] + d * rows[3, j]
    for k in range(K - K % 4, K):
        a = vector[k]
        for j in range(N):
            out[j] += a * weights[k, j]


@njit(**OPTIONS)
def product_by_rows(rows, weights, out):
    """out [n,N] = rows [n,K] weightsᵀ, from weights [N,K]: each number of the weights is read once."""
    for j in range(len(weights)):
        row = weights[j]
        for r in range(len(rows)):
            vector = rows[r]
            total = out.dtype.type(0)
            for k in range(row.size):
                total += vector[k] * row[k]
            out[r, j] = total


@njit(**OPTIONS)
def recurrent_product(rows, weights, by_rows, out):
    """out [n,G·H] = rows [n,H] times the recurrent weights, [G·H,H] if by_rows, else [H,G·H]."""
    if by_rows:
        product_by_rows(rows, weights, out)
    else:
        product(rows, weights, out)


rows_forward = rows_backward = None  # of the cell: `loops` gives each copy of the two functions below its own
passes_h = False


def _forward(gates, weights, bias, vectors, h, c, saved, lo, hi, by_rows=False):
    u = np.empty((hi - lo, gates.shape[2]), gates.dtype)
    for t in range(len(gates)):
        recurrent_product(h[t, lo:hi], weights, by_rows, u)
        rows_forward(t, t + 1, lo, gates, u, bias, vectors, h, c, saved, c, h)


def _backward(weights, vectors, gates, saved, h, c, dy, dh, dc, dgates, dgates_h, dvectors, db, db_h, lo, hi):
    carry = dh[lo:hi].copy()
    past = np.empty_like(carry)
    for t in range(len(dy) - 1, -1, -1):
        rows_backward(
            t, lo, gates, vectors, saved, h, c, dy, carry, past, dc, dgates, dgates_h, dvectors, db, db_h
        )
        product(dgates_h[t, lo:hi], weights, carry)
        if passes_h:
            carry += past
    dh[lo:hi] = carry


class Loops(NamedTuple):
    """The two loops over time of a cell."""

    forward: Callable  # (gates, weights, bias, vectors, h, c, saved, lo, hi, by_rows=False)
    # (weights, vectors, gates, saved, h, c, dy, dh, dc, dgates, dgates_h, dvectors, db, db_h, lo, hi)
    backward: Callable


@cache
def loops(cell: str) -> Loops:
    """The compiled loops of a cell in KERNEL_PROPERTIES."""
    names = _names(cell)
    return Loops(compiled_for(cell, _forward, **names), compiled_for(cell, _backward, **names))


@cache
def loops_in_python(cell: str) -> Loops:
    """The loops in Python, for products so large that they want NumPy's BLAS and all of its threads."""
    names = _names(cell) | {"product": np.dot, "recurrent_product": _blas_product}
    return Loops(with_names(_forward, **names), with_names(_backward, **names))


def _names(cell: str) -> dict:
    rows = ROWS[cell]
    return {
        "rows_forward": rows.forward,
        "rows_backward": rows.backward,
        "passes_h": KERNEL_PROPERTIES[cell].passes_h,
    }


def _blas_product(rows, weights, by_rows, out):
    """recurrent_product by NumPy's BLAS with all of its threads."""
    if len(rows) == 1 and by_rows:
        np.dot(weights, rows[0], out=out[0])
    else:
        np.dot(rows, weights.T if by_rows else weights, out=out)
