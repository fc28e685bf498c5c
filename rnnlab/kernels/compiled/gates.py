"""A step's pointwise work for one sequence, forward and backward, each in a loop over its units.

Derived from rnnlab.graphs.cells by rnnlab.emit.numba_rows: change it there, then `make course`.

Rows: gates [G·H] holds the input product and is left holding the gates; recurrent [G·H] is the recurrent
product; vectors [V·H] are numbers of each unit beside the bias; saved [H] is what a gradient needs beside
gates and states.  a_r is the sum that gate r is a function of, da_r its gradient.  Backward writes these
gradients to dgates [G·H] (and to dgates_h where the recurrent part differs) and adds to dvectors, the
gradients of the cell's own vectors.  dh [H] is the gradient after the step; where a state reaches the next
one past the products, its gradient is left as the one before the step, without what the products add.
ROWS, at the end, has loops over n sequences from `lo` on, of step t of arrays of all steps; see rows.Rows.
"""

import numpy as np
from numba import njit

from rnnlab.kernels.compiled.nonlinear import sigmoid, tanh
from rnnlab.kernels.compiled.rows import OPTIONS, Rows, add_gradients, add_up


@njit(**OPTIONS)
def rnn_tanh(gates, recurrent, bias, h_next):
    H = h_next.size
    for j in range(H):
        h_next[j] = tanh(gates[j] + recurrent[j] + bias[j])


@njit(**OPTIONS)
def rnn_tanh_backward(h_next, dh, dgates):
    H = dh.size
    one = dh.dtype.type(1)
    for j in range(H):
        h_next_j = h_next[j]
        dgates[j] = dh[j] * (one - h_next_j * h_next_j)


@njit(**OPTIONS)
def _rnn_tanh_rows(t, after, lo, gates, recurrent, bias, vectors, h, c, saved, c_next, h_next):
    for row in range(len(recurrent)):
        b = lo + row
        rnn_tanh(gates[t, b], recurrent[row], bias, h_next[after, b])


@njit(**OPTIONS)
def _rnn_tanh_rows_backward(
    t, lo, gates, vectors, saved, h, c, dy, carry, past, dc, dgates, dgates_h, dvectors, db, db_h
):
    sum_of_row = np.empty(dy.shape[2], dy.dtype)
    for row in range(len(carry)):
        b = lo + row
        add_gradients(sum_of_row, carry[row], dy[t, b])
        rnn_tanh_backward(h[t + 1, b], sum_of_row, dgates[t, b])
        add_up(db, dgates[t, b])


@njit(**OPTIONS)
def rnn_relu(gates, recurrent, bias, h_next):
    H = h_next.size
    zero = h_next.dtype.type(0)
    for j in range(H):
        a = gates[j] + recurrent[j] + bias[j]
        h_next[j] = zero if a < zero else a


@njit(**OPTIONS)
def rnn_relu_backward(h_next, dh, dgates):
    H = dh.size
    zero = dh.dtype.type(0)
    one = dh.dtype.type(1)
    for j in range(H):
        dgates[j] = dh[j] * (one if h_next[j] > zero else zero)


@njit(**OPTIONS)
def _rnn_relu_rows(t, after, lo, gates, recurrent, bias, vectors, h, c, saved, c_next, h_next):
    for row in range(len(recurrent)):
        b = lo + row
        rnn_relu(gates[t, b], recurrent[row], bias, h_next[after, b])


@njit(**OPTIONS)
def _rnn_relu_rows_backward(
    t, lo, gates, vectors, saved, h, c, dy, carry, past, dc, dgates, dgates_h, dvectors, db, db_h
):
    sum_of_row = np.empty(dy.shape[2], dy.dtype)
    for row in range(len(carry)):
        b = lo + row
        add_gradients(sum_of_row, carry[row], dy[t, b])
        rnn_relu_backward(h[t + 1, b], sum_of_row, dgates[t, b])
        add_up(db, dgates[t, b])


@njit(**OPTIONS)
def gru(gates, recurrent, bias, vectors, h, saved, h_next):
    H = h_next.size
    one = h_next.dtype.type(1)
    for j in range(H):
        a_r = gates[j] + recurrent[j] + bias[j]
        r = sigmoid(a_r)
        a_z = gates[H + j] + recurrent[H + j] + bias[H + j]
        z = sigmoid(a_z)
        inner = recurrent[2 * H + j] + vectors[j]
        a_n = gates[2 * H + j] + bias[2 * H + j] + r * inner
        n = tanh(a_n)
        saved[j] = inner
        h_next[j] = (one - z) * n + z * h[j]
        gates[j] = r
        gates[H + j] = z
        gates[2 * H + j] = n


@njit(**OPTIONS)
def gru_backward(gates, saved, h, dh, dgates, dgates_h):
    H = dh.size
    one = dh.dtype.type(1)
    for j in range(H):
        z = gates[H + j]
        dh_j = dh[j]
        n = gates[2 * H + j]
        da_n = dh_j * (one - z) * (one - n * n)
        r = gates[j]
        da_r = da_n * saved[j] * r * (one - r)
        da_z = dh_j * (h[j] - n) * z * (one - z)
        dgates[j] = da_r
        dgates[H + j] = da_z
        dgates[2 * H + j] = da_n
        dgates_h[j] = da_r
        dgates_h[H + j] = da_z
        dgates_h[2 * H + j] = da_n * r
        dh[j] = dh_j * z


@njit(**OPTIONS)
def _gru_rows(t, after, lo, gates, recurrent, bias, vectors, h, c, saved, c_next, h_next):
    for row in range(len(recurrent)):
        b = lo + row
        gru(gates[t, b], recurrent[row], bias, vectors, h[t, b], saved[t, b], h_next[after, b])


@njit(**OPTIONS)
def _gru_rows_backward(
    t, lo, gates, vectors, saved, h, c, dy, carry, past, dc, dgates, dgates_h, dvectors, db, db_h
):
    for row in range(len(carry)):
        b = lo + row
        add_gradients(past[row], carry[row], dy[t, b])
        gru_backward(gates[t, b], saved[t, b], h[t, b], past[row], dgates[t, b], dgates_h[t, b])
        add_up(db, dgates[t, b])
        add_up(db_h, dgates_h[t, b])


@njit(**OPTIONS)
def lstm(gates, recurrent, bias, c, c_next, h_next):
    H = h_next.size
    for j in range(H):
        a_i = gates[j] + recurrent[j] + bias[j]
        i = sigmoid(a_i)
        a_f = gates[H + j] + recurrent[H + j] + bias[H + j]
        f = sigmoid(a_f)
        a_g = gates[2 * H + j] + recurrent[2 * H + j] + bias[2 * H + j]
        g = tanh(a_g)
        a_o = gates[3 * H + j] + recurrent[3 * H + j] + bias[3 * H + j]
        o = sigmoid(a_o)
        next_c = f * c[j] + i * g
        c_next[j] = next_c
        h_next[j] = o * tanh(next_c)
        gates[j] = i
        gates[H + j] = f
        gates[2 * H + j] = g
        gates[3 * H + j] = o


@njit(**OPTIONS)
def lstm_backward(gates, c, c_next, dh, dc, dgates):
    H = dh.size
    one = dh.dtype.type(1)
    for j in range(H):
        dh_j = dh[j]
        o = gates[3 * H + j]
        tanh_c = tanh(c_next[j])
        dc_total = dc[j] + dh_j * o * (one - tanh_c * tanh_c)
        g = gates[2 * H + j]
        i = gates[j]
        f = gates[H + j]
        da_i = dc_total * g * i * (one - i)
        dgates[j] = da_i
        da_f = dc_total * c[j] * f * (one - f)
        dgates[H + j] = da_f
        da_g = dc_total * i * (one - g * g)
        dgates[2 * H + j] = da_g
        da_o = dh_j * tanh_c * o * (one - o)
        dgates[3 * H + j] = da_o
        dc[j] = dc_total * f


@njit(**OPTIONS)
def _lstm_rows(t, after, lo, gates, recurrent, bias, vectors, h, c, saved, c_next, h_next):
    for row in range(len(recurrent)):
        b = lo + row
        lstm(gates[t, b], recurrent[row], bias, c[t, b], c_next[after, b], h_next[after, b])


@njit(**OPTIONS)
def _lstm_rows_backward(
    t, lo, gates, vectors, saved, h, c, dy, carry, past, dc, dgates, dgates_h, dvectors, db, db_h
):
    sum_of_row = np.empty(dy.shape[2], dy.dtype)
    for row in range(len(carry)):
        b = lo + row
        add_gradients(sum_of_row, carry[row], dy[t, b])
        lstm_backward(gates[t, b], c[t, b], c[t + 1, b], sum_of_row, dc[b], dgates[t, b])
        add_up(db, dgates[t, b])


ROWS = {
    "rnn_tanh": Rows(_rnn_tanh_rows, _rnn_tanh_rows_backward),
    "rnn_relu": Rows(_rnn_relu_rows, _rnn_relu_rows_backward),
    "gru": Rows(_gru_rows, _gru_rows_backward),
    "lstm": Rows(_lstm_rows, _lstm_rows_backward),
}
