"""The same products in Halide, where the schedule is written apart from the algorithm.

Products per layer, as in `one_big_gemm`, but that the weight gradients add up over blocks of rows:
    forward   1 + T            W_ih times all x at once; a step's product ends in its gates, in registers
    backward  T + 2 + 2·blocks a step's product ends in the gradient of its gates; dx, dW_ih, dW_hh at the end
Weights are packed once a layer for each direction.  The schedule is kernels/halide/registers.py; the CMU
project's eight stand in bench/cmu/schedules.py.
"""

import functools
import math

import numpy as np

from rnnlab.cells import State
from rnnlab.kernels.halide import equations, layers
from rnnlab.kernels.halide.kernels import Kernels
from rnnlab.ladder.facts import WITH_KERNELS, Facts, Ledger, only_reset_after
from rnnlab.layers import backward_through_layers, forward_through_layers
from rnnlab.network import Network, check_cell

FACTS = Facts(
    idea="the order of work apart from the work",
    lesson="parallel_cpu",
    cells=WITH_KERNELS,
    package="halide",
    ledger=Ledger("products", lambda n: 1 + n.T, lambda n: n.T + 2 + 2 * math.ceil(n.T * n.B / layers.BLOCK)),
)
why_not = only_reset_after


def forward(network: Network, x: np.ndarray, state: State | None = None):
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    check_cell(network, WITH_KERNELS)

    def run(index, x, state):
        x, state = np.ascontiguousarray(x), tuple(map(np.ascontiguousarray, state))
        kernels = compiled(network.cell, network.dtype)
        y, last, saved = layers.forward(kernels, network, network.layer(index), x, state)
        return y, last, (x, saved)

    return forward_through_layers(network, x, state, run)


def backward(network: Network, saved: list, dy: np.ndarray, dstate: State | None = None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""

    def run(index, saved, dy, dstate):
        (x, of_layer), layer, kernels = saved, network.layer(index), compiled(network.cell, network.dtype)
        dy, dstate = np.ascontiguousarray(dy), tuple(map(np.ascontiguousarray, dstate))
        return layers.backward(kernels, network.cell, layer, x, of_layer, dy, dstate)

    return backward_through_layers(network, saved, saved[0][0].shape[:2], dy, dstate, run)


@functools.cache
def compiled(cell: str, dtype: str) -> Kernels:
    """The cell's kernels in this process."""
    return Kernels(equations.SHARED | equations.CELLS[cell], dtype)
