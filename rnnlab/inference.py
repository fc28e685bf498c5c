"""A network that only answers: one step, or a stream of any length, without what a gradient needs.

A rung saves every step for its backward pass and may lay out the weights anew in each call.  For one step of
one sequence that costs far more than the step: 4·G·H·(I + H) bytes of weights are read once and multiplied
once, so to transpose or pack them is several steps' work.  PyTorch's layout already has each unit's weights
in a row, in the order in which one sequence's product reads them.  So nothing is laid out: a step reads the
parameters where they lie, and a parameter that changes, in place or by a new array, counts from the next step
on.

    answer = Inference(network)
    y, state = answer.step(x, state)           x [B,I] -> y [B,H]
    y, state = answer.run(x, state)            x [T,B,I] -> y [T,B,H]
    for y in answer.stream(inputs, state):     one y [B,H] for each x [B,I], for as long as inputs come
"""

import importlib.util
from collections.abc import Iterable, Iterator

import numpy as np

from rnnlab import cells
from rnnlab.cells import State
from rnnlab.network import Network, check_input

KERNELS = "rnn_tanh", "rnn_relu", "gru_after", "lstm"  # names of cells with compiled loops
CHUNK = 64  # steps of `run` whose gates exist at once


class Inference:
    """Steps of a network, whose parameters are read anew in each of them."""

    def __init__(self, network: Network):
        self.network = network
        self._run_layer = _in_numpy
        if network.facts.name in KERNELS and importlib.util.find_spec("numba"):
            from rnnlab.kernels.compiled import passes

            self._run_layer = passes.run_layer

    def step(self, x: np.ndarray, state: State | None = None) -> tuple[np.ndarray, State]:
        """y [B,H] and the next state, each [L,B,H], from x [B,I] and the state (zeros if None).

        Raises ValueError for an x or a state that does not fit the network.
        """
        y, state = self.run(x[None], state)
        return y[0], state

    def run(self, x: np.ndarray, state: State | None = None) -> tuple[np.ndarray, State]:
        """y [T,B,H] and the state after the last step, from x [T,B,I]; memory beside y does not grow with T."""
        state = check_input(self.network, x, state)
        if len(x) <= CHUNK:
            return self._through_layers(x, state)
        y = np.empty((*x.shape[:2], self.network.hidden_size), x.dtype)
        for start in range(0, len(x), CHUNK):
            y[start : start + CHUNK], state = self._through_layers(x[start : start + CHUNK], state)
        return y, state

    def stream(self, inputs: Iterable[np.ndarray], state: State | None = None) -> Iterator[np.ndarray]:
        """y [B,H] of each x [B,I], as they come."""
        for x in inputs:
            y, state = self.step(x, state)
            yield y

    def _through_layers(self, x: np.ndarray, state: State) -> tuple[np.ndarray, State]:
        final = []
        for index in range(self.network.layers):
            x, last = self._run_layer(self.network, index, x, tuple(part[index] for part in state))
            final.append(last)
        return x, tuple(np.stack(parts) for parts in zip(*final, strict=True))


def _in_numpy(network: Network, index: int, x: np.ndarray, state: State) -> tuple[np.ndarray, State]:
    """h [T,B,H] of a layer and its final state, for any cell."""
    layer, h = network.layer(index), np.empty((*x.shape[:2], network.hidden_size), x.dtype)
    gates_x = x @ layer.weight_ih.T + layer.bias_ih
    for t, gates in enumerate(gates_x):
        state, _ = cells.forward(network.cell, gates, state, layer.weight_hh, layer.bias_hh, network.reset)
        h[t] = state[0]
    return h, state
