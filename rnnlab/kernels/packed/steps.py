"""The pointwise work of a step, forward and backward, on the units of one panel, as vectors.

The arrays are flat and laid out so that what a panel's units need lies together: gates [T,P,B,G,width] holds
for time step t and panel p all gates of all sequences, cells c and the like are [T,P,B,width].  `at` is where
the first row (sequence) of a step and panel starts.  h and the gradients of the gates are rows of
their own, [.,B,H], because products read them row by row.  Formulas: rnnlab.cells.

gates come in holding the products (without bias), and are left holding the gates.
"""

from numba import njit

from rnnlab.kernels.packed.host import VECTORS
from rnnlab.kernels.packed.panels import OPTIONS
from rnnlab.kernels.packed.vectors import lanes, load, positive, sigmoid, step, store, tanh

RELU, TANH, GRU, LSTM = range(4)  # kinds of cells
KINDS = {"rnn_relu": RELU, "rnn_tanh": TANH, "gru": GRU, "lstm": LSTM}


@njit(**OPTIONS)
def rnn(is_relu, rows, bias, bias_at, h, h_at, h_row):
    """h: the products come in, the states go out."""
    vector = lanes(h)
    for r in range(rows):
        for j in range(0, VECTORS * vector, vector):
            place = h_at + r * h_row + j
            a = load(h, place) + load(bias, bias_at + j)
            store(h, place, positive(a) if is_relu else tanh(a))


@njit(**OPTIONS)
def lstm(rows, gates, at, bias, bias_at, bias_row, c, c_at, c_next, h, h_at, h_row):
    """c, h after the step from c before it: c_at and c_next are places in c."""
    vector = lanes(h)
    width = VECTORS * vector
    for r in range(rows):
        for j in range(0, width, vector):
            g = at + r * 4 * width + j
            b = bias_at + j
            i = sigmoid(load(gates, g) + load(bias, b))
            f = sigmoid(load(gates, g + width) + load(bias, b + bias_row))
            k = tanh(load(gates, g + 2 * width) + load(bias, b + 2 * bias_row))
            o = sigmoid(load(gates, g + 3 * width) + load(bias, b + 3 * bias_row))
            new = f * load(c, c_at + r * width + j) + i * k
            store(c, c_next + r * width + j, new)
            store(h, h_at + r * h_row + j, o * tanh(new))
            store(gates, g, i)
            store(gates, g + width, f)
            store(gates, g + 2 * width, k)
            store(gates, g + 3 * width, o)


@njit(**OPTIONS)
def gru(rows, gates, at, bias, bias_at, bias_row, inner, inner_at, h, before, h_at, h_row):
    """h after the step; inner: the candidate's h U_nᵀ comes in, and goes out with its bias, the fourth."""
    vector = lanes(h)
    width = VECTORS * vector
    for r in range(rows):
        for j in range(0, width, vector):
            g = at + r * 3 * width + j
            b = bias_at + j
            place = inner_at + r * width + j
            reset = sigmoid(load(gates, g) + load(bias, b))
            z = sigmoid(load(gates, g + width) + load(bias, b + bias_row))
            u = load(inner, place) + load(bias, b + 3 * bias_row)
            n = tanh(load(gates, g + 2 * width) + load(bias, b + 2 * bias_row) + reset * u)
            store(inner, place, u)
            store(h, h_at + r * h_row + j, (1 - z) * n + z * load(h, before + r * h_row + j))
            store(gates, g, reset)
            store(gates, g + width, z)
            store(gates, g + 2 * width, n)


@njit(**OPTIONS)
def rnn_backward(is_relu, rows, h, h_at, h_row, carry, at, dy, dy_at, dy_row, dg, dg_at, dg_row):
    """dg from dh = carry + dy; h is the state after the step, carry [P,B,width] what later steps sent."""
    vector = lanes(h)
    width = VECTORS * vector
    for r in range(rows):
        for j in range(0, width, vector):
            dh = load(carry, at + r * width + j) + load(dy, dy_at + r * dy_row + j)
            after = load(h, h_at + r * h_row + j)
            store(dg, dg_at + r * dg_row + j, dh * step(after) if is_relu else dh * (1 - after * after))


@njit(**OPTIONS)
def lstm_backward(
    rows, gates, gates_at, c, c_at, c_next, carry, dc, at, dy, dy_at, dy_row, dg, dg_at, dg_row, dg_gate
):
    """dg of the four gates; dc [P,B,width], the gradient on c after the step, is left as that before it."""
    vector = lanes(dg)
    width = VECTORS * vector
    for r in range(rows):
        for j in range(0, width, vector):
            g = gates_at + r * 4 * width + j
            place = at + r * width + j
            i = load(gates, g)
            f = load(gates, g + width)
            k = load(gates, g + 2 * width)
            o = load(gates, g + 3 * width)
            dh = load(carry, place) + load(dy, dy_at + r * dy_row + j)
            t = tanh(load(c, c_next + r * width + j))
            d = load(dc, place) + dh * o * (1 - t * t)
            out = dg_at + r * dg_row + j
            store(dg, out, d * k * i * (1 - i))
            store(dg, out + dg_gate, d * load(c, c_at + r * width + j) * f * (1 - f))
            store(dg, out + 2 * dg_gate, d * i * (1 - k * k))
            store(dg, out + 3 * dg_gate, dh * t * o * (1 - o))
            store(dc, place, d * f)


@njit(**OPTIONS)
def gru_backward(
    rows, gates, gates_at, inner, inner_at, h, before, h_row,
    carry, past, at, dy, dy_at, dy_row, dg, dg_at, dg_row, dg_gate,
):  # fmt: skip
    """dg holds four: the candidate's before the reset, r, z, the candidate's after the reset.

    past [P,B,width], what reached h past the products after the step, is left as what does so before it.
    """
    vector = lanes(dg)
    width = VECTORS * vector
    for r in range(rows):
        for j in range(0, width, vector):
            g = gates_at + r * 3 * width + j
            place = at + r * width + j
            reset = load(gates, g)
            z = load(gates, g + width)
            n = load(gates, g + 2 * width)
            dh = load(carry, place) + load(past, place) + load(dy, dy_at + r * dy_row + j)
            dn = dh * (1 - z) * (1 - n * n)
            dz = dh * (load(h, before + r * h_row + j) - n) * z * (1 - z)
            out = dg_at + r * dg_row + j
            store(dg, out, dn)
            store(dg, out + dg_gate, dn * load(inner, inner_at + r * width + j) * reset * (1 - reset))
            store(dg, out + 2 * dg_gate, dz)
            store(dg, out + 3 * dg_gate, dn * reset)
            store(past, place, dh * z)
