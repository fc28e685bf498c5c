"""The loop over time, compiled, for sequences lo … hi of the minibatch: nothing in it returns to Python.

gates [T,B,G·H] holds the input products and is left holding the gates; h [T+1,B,H] (and c) has its first
block given.  The recurrent product is BLAS's, on weights laid out as it likes them best, [H,G·H].  For a
single sequence it is a matrix times a vector, where calling BLAS costs more than the work, and forward reads
the rows of the weights where they lie, [G·H,H]: `by_rows` says which of the two.  Backward writes the
gradients before the nonlinearities, dgates [T,B,G·H], adds their sum to db [G·H], and leaves dh [B,H] and
dc [B,H] as the gradients of the initial state.
"""

from collections.abc import Callable
from types import FunctionType, SimpleNamespace

import numpy as np
from numba import njit

from rnnlab.kernels.compiled import rows
from rnnlab.kernels.compiled.nonlinear import FAST

OPTIONS = {**FAST, "nogil": True, "cache": True}


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
        wa = weights[k]
        wb = weights[k + 1]
        wc = weights[k + 2]
        wd = weights[k + 3]
        for j in range(N):
            out[j] += a * wa[j] + b * wb[j] + c * wc[j] + d * wd[j]
    for k in range(K - K % 4, K):
        a = vector[k]
        wa = weights[k]
        for j in range(N):
            out[j] += a * wa[j]


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


@njit(**OPTIONS)
def rnn_forward(is_relu, gates, weights, b, h, lo, hi, by_rows=False):
    u = np.empty((hi - lo, h.shape[2]), gates.dtype)
    for t in range(len(gates)):
        recurrent_product(h[t, lo:hi], weights, by_rows, u)
        rows.rnn(is_relu, gates[t, lo:hi], u, b, h[t + 1, lo:hi])


@njit(**OPTIONS)
def rnn_backward(is_relu, weights, h, dy, dh, dgates, db, lo, hi):
    carry = dh[lo:hi].copy()
    for t in range(len(dy) - 1, -1, -1):
        rows.rnn_backward(is_relu, h[t + 1, lo:hi], dy[t, lo:hi], carry, dgates[t, lo:hi], db)
        product(dgates[t, lo:hi], weights, carry)
    dh[lo:hi] = carry


@njit(**OPTIONS)
def lstm_forward(gates, weights, b, h, c, lo, hi, by_rows=False):
    u = np.empty((hi - lo, gates.shape[2]), gates.dtype)
    for t in range(len(gates)):
        recurrent_product(h[t, lo:hi], weights, by_rows, u)
        rows.lstm(gates[t, lo:hi], u, b, c[t, lo:hi], c[t + 1, lo:hi], h[t + 1, lo:hi])


@njit(**OPTIONS)
def lstm_backward(weights, gates, c, dy, dh, dc, dgates, db, lo, hi):
    carry = dh[lo:hi].copy()
    for t in range(len(dy) - 1, -1, -1):
        cs = c[t, lo:hi], c[t + 1, lo:hi]
        rows.lstm_backward(gates[t, lo:hi], cs, dy[t, lo:hi], carry, dc[lo:hi], dgates[t, lo:hi], db)
        product(dgates[t, lo:hi], weights, carry)
    dh[lo:hi] = carry


@njit(**OPTIONS)
def gru_forward(gates, weights, b, b_n, h, h_n, lo, hi, by_rows=False):
    u = np.empty((hi - lo, gates.shape[2]), gates.dtype)
    for t in range(len(gates)):
        recurrent_product(h[t, lo:hi], weights, by_rows, u)
        rows.gru(gates[t, lo:hi], u, b, b_n, h[t, lo:hi], h_n[t, lo:hi], h[t + 1, lo:hi])


@njit(**OPTIONS)
def gru_backward(weights, gates, h_n, h, dy, dh, dgates, du, db, dub, lo, hi):
    carry = dh[lo:hi].copy()
    past = np.empty_like(carry)
    for t in range(len(dy) - 1, -1, -1):
        saved = gates[t, lo:hi], h_n[t, lo:hi], h[t, lo:hi]
        rows.gru_backward(saved, dy[t, lo:hi], carry, past, dgates[t, lo:hi], du[t, lo:hi], db, dub)
        product(du[t, lo:hi], weights, carry)
        carry += past
    dh[lo:hi] = carry


LOOPS = (rnn_forward, rnn_backward, lstm_forward, lstm_backward, gru_forward, gru_backward)


def _blas_product(rows, weights, by_rows, out):
    """recurrent_product by NumPy's BLAS with all of its threads."""
    if len(rows) == 1 and by_rows:
        np.dot(weights, rows[0], out=out[0])
    else:
        np.dot(rows, weights.T if by_rows else weights, out=out)


def _in_python(loop: Callable) -> Callable:
    """The loop in Python, for products so large that they want NumPy's BLAS and all of its threads."""
    code = getattr(loop, "py_func", loop).__code__  # under NUMBA_DISABLE_JIT it is Python already
    return FunctionType(code, globals() | {"product": np.dot, "recurrent_product": _blas_product})


IN_PYTHON = SimpleNamespace(**{loop.__name__: _in_python(loop) for loop in LOOPS})
