"""A network in Halide, where the schedule is written apart from the algorithm.

Products per layer, as in the rung `one_big_gemm`, but that the weight gradients add up over blocks of rows:
    forward   1 + T            W_ih times all x at once; a step's product ends in its gates, in registers
    backward  T + 2 + 2·blocks a step's product ends in the gradient of its gates; dx, dW_ih, dW_hh at the end
Weights are packed once a layer for each direction.
"""

import numpy as np

from bench.halide import equations, layers
from bench.halide.kernels import OURS, Kernels
from rnnlab.cells import State
from rnnlab.layers import backward_through_layers, forward_through_layers
from rnnlab.network import Network


class Halide:
    """Forward and backward pass of a cell under a schedule of bench.halide.kernels.SCHEDULES."""

    def __init__(self, cell: str, dtype: str = "float32", schedule: str = OURS):
        self.kernels = Kernels(equations.SHARED | equations.CELLS[cell], schedule, dtype)
        self.cell = cell

    def forward(self, network: Network, x: np.ndarray, state: State | None = None):
        """y [T,B,H], final state, saved; see rnnlab.ladder."""

        def run(index, x, state):
            x = np.ascontiguousarray(x)
            state = tuple(map(np.ascontiguousarray, state))
            y, last, saved = layers.forward(self.kernels, network, network.layer(index), x, state)
            return y, last, (x, saved)

        return forward_through_layers(network, x, state, run)

    def backward(self, network: Network, saved: list, dy: np.ndarray, dstate: State | None = None):
        """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""

        def run(index, saved, dy, dstate):
            (x, of_layer) = saved
            layer = network.layer(index)
            dy = np.ascontiguousarray(dy)
            dstate = tuple(map(np.ascontiguousarray, dstate))
            return layers.backward(self.kernels, self.cell, layer, x, of_layer, dy, dstate)

        return backward_through_layers(network, saved, saved[0][0].shape[:2], dy, dstate, run)
