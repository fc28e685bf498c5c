"""The loop over time in Python, for products so large that they want NumPy's BLAS and all of its threads.

The functions are recurrence.py's, with the same arguments; a step is one product and one compiled call.
"""

import numpy as np

from rnnlab.kernels.compiled import rows


def rnn_forward(is_relu, gates, weights, b, h, lo, hi):
    u = np.empty_like(gates[0, lo:hi])
    for t in range(len(gates)):
        np.dot(h[t, lo:hi], weights, out=u)
        rows.rnn(is_relu, gates[t, lo:hi], u, b, h[t + 1, lo:hi])


def rnn_backward(is_relu, weights, h, dy, dh, dgates, db, lo, hi):
    carry = dh[lo:hi]
    for t in reversed(range(len(dy))):
        rows.rnn_backward(is_relu, h[t + 1, lo:hi], dy[t, lo:hi], carry, dgates[t, lo:hi], db)
        np.dot(dgates[t, lo:hi], weights, out=carry)


def lstm_forward(gates, weights, b, h, c, lo, hi):
    u = np.empty_like(gates[0, lo:hi])
    for t in range(len(gates)):
        np.dot(h[t, lo:hi], weights, out=u)
        rows.lstm(gates[t, lo:hi], u, b, c[t, lo:hi], c[t + 1, lo:hi], h[t + 1, lo:hi])


def lstm_backward(weights, gates, c, dy, dh, dc, dgates, db, lo, hi):
    carry = dh[lo:hi]
    for t in reversed(range(len(dy))):
        cs = c[t, lo:hi], c[t + 1, lo:hi]
        rows.lstm_backward(gates[t, lo:hi], cs, dy[t, lo:hi], carry, dc[lo:hi], dgates[t, lo:hi], db)
        np.dot(dgates[t, lo:hi], weights, out=carry)


def gru_forward(gates, weights, b, b_n, h, h_n, lo, hi):
    u = np.empty_like(gates[0, lo:hi])
    for t in range(len(gates)):
        np.dot(h[t, lo:hi], weights, out=u)
        rows.gru(gates[t, lo:hi], u, b, b_n, h[t, lo:hi], h_n[t, lo:hi], h[t + 1, lo:hi])


def gru_backward(weights, gates, h_n, h, dy, dh, dgates, du, db, dub, lo, hi):
    carry, past = dh[lo:hi], np.empty_like(dh[lo:hi])
    for t in reversed(range(len(dy))):
        saved = gates[t, lo:hi], h_n[t, lo:hi], h[t, lo:hi]
        rows.gru_backward(saved, dy[t, lo:hi], carry, past, dgates[t, lo:hi], du[t, lo:hi], db, dub)
        np.dot(du[t, lo:hi], weights, out=carry)
        carry += past
