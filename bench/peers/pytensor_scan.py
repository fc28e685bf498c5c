"""PyTensor, Theano's living successor: the same formulas as symbols, its scan, its gradients, its compiler.

A function is compiled once for each cell and takes any sizes, as one did in Theano; its first call, which
compiles, is never timed.  The linker is the default one, Numba's: the C linker finds no BLAS of its own
where everything came from pip, and multiplies through NumPy.
"""

import functools
from collections.abc import Callable

import numpy as np
import pytensor
import pytensor.tensor as pt

from rnnlab.network import Network

PARAMETERS = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")


def build(network: Network, x: np.ndarray, dy: np.ndarray, name: str) -> tuple[Callable, Callable]:
    """step and arrays, see bench.peers."""
    train = _compiled(network.cell, str(x.dtype))
    arguments = (x, dy, *(network.parameters[key] for key in PARAMETERS))
    return lambda: train(*arguments), lambda outcome: dict(
        zip(("y", "dx", *PARAMETERS), outcome, strict=True)
    )


@functools.cache
def _compiled(cell: str, dtype: str) -> Callable:
    x = pt.tensor3("x", dtype=dtype)
    dy = pt.tensor3("dy", dtype=dtype)
    parameters = [
        (pt.matrix if key.startswith("weight") else pt.vector)(key, dtype=dtype) for key in PARAMETERS
    ]
    weight_ih, weight_hh, bias_ih, bias_hh = parameters
    T, B, I = x.shape
    gates_x = (pt.dot(x.reshape((T * B, I)), weight_ih.T) + bias_ih).reshape((T, B, weight_ih.shape[0]))
    zeros = pt.zeros((B, weight_hh.shape[1]), dtype=dtype)

    def step(gates_x, *carried):
        *state, weight_hh, bias_hh = carried
        return STEPS[cell](gates_x, pt.dot(state[0], weight_hh.T) + bias_hh, state)

    start = [zeros, zeros] if cell == "lstm" else [zeros]
    outputs = pytensor.scan(
        step, [gates_x], start, non_sequences=[weight_hh, bias_hh], strict=True, return_updates=False
    )
    y = outputs[0] if cell == "lstm" else outputs
    gradients = pytensor.grad((y * dy).sum(), [x, *parameters])
    return pytensor.function([x, dy, *parameters], [y, *gradients])


def _cut(gates, count: int) -> list:
    H = gates.shape[1] // count
    return [gates[:, k * H : (k + 1) * H] for k in range(count)]


def _gru(gates_x, gates_h, state):
    (xr, xz, xn) = _cut(gates_x, 3)
    (hr, hz, hn) = _cut(gates_h, 3)
    z = pt.sigmoid(xz + hz)
    n = pt.tanh(xn + pt.sigmoid(xr + hr) * hn)
    return (1 - z) * n + z * state[0]


def _lstm(gates_x, gates_h, state):
    i, f, g, o = _cut(gates_x + gates_h, 4)
    c = pt.sigmoid(f) * state[1] + pt.sigmoid(i) * pt.tanh(g)
    return pt.sigmoid(o) * pt.tanh(c), c


STEPS = {
    "rnn_tanh": lambda gates_x, gates_h, state: pt.tanh(gates_x + gates_h),
    "rnn_relu": lambda gates_x, gates_h, state: pt.maximum(gates_x + gates_h, 0),
    "gru": _gru,
    "lstm": _lstm,
}
