"""The pointwise work of a step, forward and backward, on the units of one panel, as vectors.

Derived from rnnlab.graphs.cells by rnnlab.emit.numba_vectors: change it there, then `make course`.

The arrays are flat and laid out so that what a panel's units need lies together: gates [T,P,B,G,width] holds
for time step t and panel p all gates of all sequences, c, saved and the like are [T,P,B,width].  `gates_at`
and the like are where the first row (sequence) of a step and panel starts.  h and the gradients of the gates
are rows of their own, [.,B,H], because products read them row by row.

a_r is the sum that gate r is a function of, da_r its gradient.

Forward: gates come in holding the products (without bias), and are left holding the gates; a cell of one gate
has them in h.  bias [G+V,H'] has the vectors of a step behind the biases of the gates.  saved: where a gate
multiplies a recurrent product, that product comes in, and goes out with its bias.  c_at and c_next are places
in c.

Backward: dg is written from dh, the sum of carry [P,B,width], what later steps sent, of dy, and of past
[P,B,width], what reached h past the products; dc and past are left as those before the step.  Where a gate
multiplies a recurrent product, dg has one column more: the gradient of that product's gate for the inputs
comes first, then the other gates', then its gradient for the product.  dvectors, which are laid out as bias,
are added to: the gradients of the cell's own vectors.

`forward` and `backward`, at the end, are the steps of all cells, with the arguments of any.
"""

from numba import njit

from rnnlab.kernels.packed.host import VECTORS
from rnnlab.kernels.packed.panels import OPTIONS
from rnnlab.kernels.packed.vectors import lanes, load, positive, sigmoid, step, store, tanh


@njit(**OPTIONS)
def rnn_tanh(rows, bias, bias_at, h, h_at, h_row):
    vector = lanes(h)
    width = VECTORS * vector
    for row in range(rows):
        for j in range(0, width, vector):
            after = h_at + row * h_row + j
            store(h, after, tanh(load(h, after) + load(bias, bias_at + j)))


@njit(**OPTIONS)
def rnn_tanh_backward(rows, h, h_at, h_row, carry, at, dy, dy_at, dy_row, dg, dg_at, dg_row):
    vector = lanes(dg)
    width = VECTORS * vector
    for row in range(rows):
        for j in range(0, width, vector):
            unit = row * width + j
            after = h_at + row * h_row + j
            out = dg_at + row * dg_row + j
            dh = load(carry, at + unit) + load(dy, dy_at + row * dy_row + j)
            h_next_j = load(h, after)
            store(dg, out, dh * (1 - h_next_j * h_next_j))


@njit(**OPTIONS)
def rnn_relu(rows, bias, bias_at, h, h_at, h_row):
    vector = lanes(h)
    width = VECTORS * vector
    for row in range(rows):
        for j in range(0, width, vector):
            after = h_at + row * h_row + j
            store(h, after, positive(load(h, after) + load(bias, bias_at + j)))


@njit(**OPTIONS)
def rnn_relu_backward(rows, h, h_at, h_row, carry, at, dy, dy_at, dy_row, dg, dg_at, dg_row):
    vector = lanes(dg)
    width = VECTORS * vector
    for row in range(rows):
        for j in range(0, width, vector):
            unit = row * width + j
            after = h_at + row * h_row + j
            out = dg_at + row * dg_row + j
            dh = load(carry, at + unit) + load(dy, dy_at + row * dy_row + j)
            store(dg, out, dh * step(load(h, after)))


@njit(**OPTIONS)
def gru(rows, gates, gates_at, bias, bias_at, bias_row, saved, saved_at, h, before, h_at, h_row):
    vector = lanes(h)
    width = VECTORS * vector
    for row in range(rows):
        for j in range(0, width, vector):
            unit = row * width + j
            after = h_at + row * h_row + j
            gate = gates_at + row * 3 * width + j
            a_r = load(gates, gate) + load(bias, bias_at + j)
            r = sigmoid(a_r)
            a_z = load(gates, gate + width) + load(bias, bias_at + bias_row + j)
            z = sigmoid(a_z)
            inner = load(saved, saved_at + unit) + load(bias, bias_at + 3 * bias_row + j)
            a_n = load(gates, gate + 2 * width) + load(bias, bias_at + 2 * bias_row + j) + r * inner
            n = tanh(a_n)
            store(saved, saved_at + unit, inner)
            store(h, after, (1 - z) * n + z * load(h, before + row * h_row + j))
            store(gates, gate, r)
            store(gates, gate + width, z)
            store(gates, gate + 2 * width, n)


@njit(**OPTIONS)
def gru_backward(
    rows, gates, gates_at, saved, saved_at, h, before, h_row, carry, past, at, dy, dy_at, dy_row, dg, dg_at,
    dg_row, dg_gate,
):  # fmt: skip
    vector = lanes(dg)
    width = VECTORS * vector
    for row in range(rows):
        for j in range(0, width, vector):
            unit = row * width + j
            gate = gates_at + row * 3 * width + j
            out = dg_at + row * dg_row + j
            dh = load(carry, at + unit) + load(past, at + unit) + load(dy, dy_at + row * dy_row + j)
            z = load(gates, gate + width)
            n = load(gates, gate + 2 * width)
            da_n = dh * (1 - z) * (1 - n * n)
            r = load(gates, gate)
            da_r = da_n * load(saved, saved_at + unit) * r * (1 - r)
            store(dg, out + dg_gate, da_r)
            da_z = dh * (load(h, before + row * h_row + j) - n) * z * (1 - z)
            store(dg, out + 2 * dg_gate, da_z)
            store(dg, out, da_n)
            store(dg, out + 3 * dg_gate, da_n * r)
            store(past, at + unit, dh * z)


@njit(**OPTIONS)
def lstm(rows, gates, gates_at, bias, bias_at, bias_row, c, c_at, c_next, h, h_at, h_row):
    vector = lanes(h)
    width = VECTORS * vector
    for row in range(rows):
        for j in range(0, width, vector):
            unit = row * width + j
            after = h_at + row * h_row + j
            gate = gates_at + row * 4 * width + j
            a_i = load(gates, gate) + load(bias, bias_at + j)
            i = sigmoid(a_i)
            a_f = load(gates, gate + width) + load(bias, bias_at + bias_row + j)
            f = sigmoid(a_f)
            a_g = load(gates, gate + 2 * width) + load(bias, bias_at + 2 * bias_row + j)
            g = tanh(a_g)
            a_o = load(gates, gate + 3 * width) + load(bias, bias_at + 3 * bias_row + j)
            o = sigmoid(a_o)
            next_c = f * load(c, c_at + unit) + i * g
            store(c, c_next + unit, next_c)
            store(h, after, o * tanh(next_c))
            store(gates, gate, i)
            store(gates, gate + width, f)
            store(gates, gate + 2 * width, g)
            store(gates, gate + 3 * width, o)


@njit(**OPTIONS)
def lstm_backward(
    rows, gates, gates_at, c, c_at, c_next, carry, dc, at, dy, dy_at, dy_row, dg, dg_at, dg_row, dg_gate
):
    vector = lanes(dg)
    width = VECTORS * vector
    for row in range(rows):
        for j in range(0, width, vector):
            unit = row * width + j
            gate = gates_at + row * 4 * width + j
            out = dg_at + row * dg_row + j
            dh = load(carry, at + unit) + load(dy, dy_at + row * dy_row + j)
            o = load(gates, gate + 3 * width)
            tanh_c = tanh(load(c, c_next + unit))
            dc_total = load(dc, at + unit) + dh * o * (1 - tanh_c * tanh_c)
            g = load(gates, gate + 2 * width)
            i = load(gates, gate)
            f = load(gates, gate + width)
            da_i = dc_total * g * i * (1 - i)
            store(dg, out, da_i)
            da_f = dc_total * load(c, c_at + unit) * f * (1 - f)
            store(dg, out + dg_gate, da_f)
            da_g = dc_total * i * (1 - g * g)
            store(dg, out + 2 * dg_gate, da_g)
            da_o = dh * tanh_c * o * (1 - o)
            store(dg, out + 3 * dg_gate, da_o)
            store(dc, at + unit, dc_total * f)


@njit(**OPTIONS)
def forward(
    number, rows, gates, gates_at, bias, bias_at, bias_row, c, c_at, c_next, saved, saved_at, h, before, h_at,
    h_row,
):  # fmt: skip
    if number == 0:
        rnn_tanh(rows, bias, bias_at, h, h_at, h_row)
    elif number == 1:
        rnn_relu(rows, bias, bias_at, h, h_at, h_row)
    elif number == 2:
        gru(rows, gates, gates_at, bias, bias_at, bias_row, saved, saved_at, h, before, h_at, h_row)
    elif number == 3:
        lstm(rows, gates, gates_at, bias, bias_at, bias_row, c, c_at, c_next, h, h_at, h_row)


@njit(**OPTIONS)
def backward(
    number, rows, gates, gates_at, bias, bias_at, bias_row, c, c_at, c_next, saved, saved_at, h, before, h_at,
    h_row, carry, dc, past, at, dy, dy_at, dy_row, dg, dg_at, dg_row, dg_gate, dvectors,
):  # fmt: skip
    if number == 0:
        rnn_tanh_backward(rows, h, h_at, h_row, carry, at, dy, dy_at, dy_row, dg, dg_at, dg_row)
    elif number == 1:
        rnn_relu_backward(rows, h, h_at, h_row, carry, at, dy, dy_at, dy_row, dg, dg_at, dg_row)
    elif number == 2:
        gru_backward(
            rows, gates, gates_at, saved, saved_at, h, before, h_row, carry, past, at, dy, dy_at, dy_row, dg,
            dg_at, dg_row, dg_gate,
        )  # fmt: skip
    elif number == 3:
        lstm_backward(
            rows, gates, gates_at, c, c_at, c_next, carry, dc, at, dy, dy_at, dy_row, dg, dg_at, dg_row,
            dg_gate,
        )  # fmt: skip
