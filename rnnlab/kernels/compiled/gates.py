"""A step's pointwise work for one sequence, forward and backward, each in a single loop over its units.

Rows: g [G·H] holds the input product and is left holding the gates; u [G·H] is the recurrent product; b [G·H]
the bias; h_n [H] the product that a GRU's gradient needs.  Backward writes dg [G·H] (and du where the
recurrent part differs), and turns dh [H], the gradient after the step, into the part
that reaches h past the products.
The formulas are rnnlab.cells', in the order that reads each number once.
"""

from numba import njit

from rnnlab.kernels.compiled.nonlinear import FAST, sigmoid, tanh

OPTIONS = {**FAST, "nogil": True, "cache": True}


@njit(**OPTIONS)
def rnn_tanh(g, u, b, h_next):
    for j in range(h_next.size):
        h_next[j] = tanh(g[j] + u[j] + b[j])


@njit(**OPTIONS)
def rnn_relu(g, u, b, h_next):
    zero = g.dtype.type(0)
    for j in range(h_next.size):
        a = g[j] + u[j] + b[j]
        h_next[j] = zero if a < zero else a  # NaN stays NaN


@njit(**OPTIONS)
def rnn_tanh_backward(h_next, dh, dg):
    one = dg.dtype.type(1)
    for j in range(dh.size):
        dg[j] = dh[j] * (one - h_next[j] * h_next[j])


@njit(**OPTIONS)
def rnn_relu_backward(h_next, dh, dg):
    zero = dg.dtype.type(0)
    one = dg.dtype.type(1)
    for j in range(dh.size):
        dg[j] = dh[j] * (one if h_next[j] > zero else zero)


@njit(**OPTIONS)
def lstm(g, u, b, c, c_next, h_next):
    H = c.size
    for j in range(H):
        i = sigmoid(g[j] + u[j] + b[j])
        f = sigmoid(g[H + j] + u[H + j] + b[H + j])
        k = tanh(g[2 * H + j] + u[2 * H + j] + b[2 * H + j])
        o = sigmoid(g[3 * H + j] + u[3 * H + j] + b[3 * H + j])
        new = f * c[j] + i * k
        c_next[j] = new
        h_next[j] = o * tanh(new)
        g[j] = i
        g[H + j] = f
        g[2 * H + j] = k
        g[3 * H + j] = o


@njit(**OPTIONS)
def lstm_backward(g, c, c_next, dh, dc, dg):
    """dc [H] is the gradient on c after the step, and is left as the one before it."""
    H = c.size
    one = g.dtype.type(1)
    for j in range(H):
        i = g[j]
        f = g[H + j]
        k = g[2 * H + j]
        o = g[3 * H + j]
        t = tanh(c_next[j])
        d = dc[j] + dh[j] * o * (one - t * t)
        dg[j] = d * k * i * (one - i)
        dg[H + j] = d * c[j] * f * (one - f)
        dg[2 * H + j] = d * i * (one - k * k)
        dg[3 * H + j] = dh[j] * t * o * (one - o)
        dc[j] = d * f


@njit(**OPTIONS)
def gru(g, u, b, b_n, h, h_n, h_next):
    """Reset after the product; b_n [H] is the bias inside the reset, h_n the candidate's h U_nᵀ + b_n."""
    H = h.size
    one = g.dtype.type(1)
    for j in range(H):
        r = sigmoid(g[j] + u[j] + b[j])
        z = sigmoid(g[H + j] + u[H + j] + b[H + j])
        inner = u[2 * H + j] + b_n[j]
        n = tanh(g[2 * H + j] + b[2 * H + j] + r * inner)
        h_n[j] = inner
        h_next[j] = (one - z) * n + z * h[j]
        g[j] = r
        g[H + j] = z
        g[2 * H + j] = n


@njit(**OPTIONS)
def gru_backward(g, h_n, h, dh, dg, du):
    """du [G·H]: as dg, but the candidate's part comes through the reset.  dh is left as dh∘z."""
    H = h.size
    one = g.dtype.type(1)
    for j in range(H):
        r = g[j]
        z = g[H + j]
        n = g[2 * H + j]
        dn = dh[j] * (one - z) * (one - n * n)
        dz = dh[j] * (h[j] - n) * z * (one - z)
        dr = dn * h_n[j] * r * (one - r)
        dg[j] = dr
        du[j] = dr
        dg[H + j] = dz
        du[H + j] = dz
        dg[2 * H + j] = dn
        du[2 * H + j] = dn * r
        dh[j] = dh[j] * z
