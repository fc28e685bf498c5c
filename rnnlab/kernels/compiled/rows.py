"""The pointwise work of a step for n sequences, compiled: gates.py's loops over the rows of [n, …] arrays.

Forward: g [n,G·H] holds the input product and is left holding the gates, u [n,G·H] is the recurrent product.
Backward: dh = carry + dy, all [n,H]: gradient of the later steps plus the loss's; dg (and du) [n,G·H] are
written, and their sums over the rows added to db (and dub) [G·H].
"""

import numpy as np
from numba import njit

from rnnlab.kernels.compiled import gates as step
from rnnlab.kernels.compiled.gates import OPTIONS


@njit(**OPTIONS)
def add_gradients(dh, carry, dy):
    for j in range(dh.size):
        dh[j] = carry[j] + dy[j]


@njit(**OPTIONS)
def add_up(total, row):
    for j in range(total.size):
        total[j] += row[j]


@njit(**OPTIONS)
def rnn(is_relu, g, u, b, h_next):
    for r in range(len(g)):
        if is_relu:
            step.rnn_relu(g[r], u[r], b, h_next[r])
        else:
            step.rnn_tanh(g[r], u[r], b, h_next[r])


@njit(**OPTIONS)
def rnn_backward(is_relu, h_next, dy, carry, dg, db):
    dh = np.empty(dy.shape[1], dy.dtype)
    for r in range(len(dy)):
        add_gradients(dh, carry[r], dy[r])
        if is_relu:
            step.rnn_relu_backward(h_next[r], dh, dg[r])
        else:
            step.rnn_tanh_backward(h_next[r], dh, dg[r])
        add_up(db, dg[r])


@njit(**OPTIONS)
def lstm(g, u, b, c, c_next, h_next):
    for r in range(len(g)):
        step.lstm(g[r], u[r], b, c[r], c_next[r], h_next[r])


@njit(**OPTIONS)
def lstm_backward(g, cs, dy, carry, dc, dg, db):
    """cs: c before and after the step; dc [n,H] is left as the gradient on the one before."""
    dh = np.empty(dy.shape[1], dy.dtype)
    for r in range(len(dy)):
        add_gradients(dh, carry[r], dy[r])
        step.lstm_backward(g[r], cs[0][r], cs[1][r], dh, dc[r], dg[r])
        add_up(db, dg[r])


@njit(**OPTIONS)
def gru(g, u, b, b_n, h, h_n, h_next):
    for r in range(len(g)):
        step.gru(g[r], u[r], b, b_n, h[r], h_n[r], h_next[r])


@njit(**OPTIONS)
def gru_backward(saved, dy, carry, past, dg, du, db, dub):
    """saved: gates, h_n and h before the step; past [n,H] is left with what reaches h past the products."""
    for r in range(len(dy)):
        add_gradients(past[r], carry[r], dy[r])
        step.gru_backward(saved[0][r], saved[1][r], saved[2][r], past[r], dg[r], du[r])
        add_up(db, dg[r])
        add_up(dub, du[r])
