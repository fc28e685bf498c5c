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

from collections.abc import Iterable, Iterator
from importlib.util import find_spec

import numpy as np

from rnnlab import cells
from rnnlab.cells import State
from rnnlab.ladder.facts import WITH_KERNELS, only_reset_after
from rnnlab.network import Network, check_input

CHUNK = 64  # steps of `run` whose gates exist at once
FEW = 8  # sequences whose products read each weight once


class Inference:
    """Steps of a network, whose parameters are read anew in each of them."""

    def __init__(self, network: Network):
        self.network, self._one_step, self._run_layer = network, None, _run_in_numpy
        if not only_reset_after(network, 1, 1) and network.cell in WITH_KERNELS and find_spec("numba"):
            from rnnlab.kernels.compiled import passes

            self._one_step, self._run_layer = passes.one_step, passes.run_layer

    def step(self, x: np.ndarray, state: State | None = None) -> tuple[np.ndarray, State]:
        """y [B,H] and the next state, each [L,B,H], from x [B,I] and the state (zeros if None).

        Raises ValueError for an x or a state that does not fit the network.
        """
        if self._one_step and state is not None and self._fits(x, state):
            final = tuple(np.empty_like(part) for part in state)
            if self._one_step(self.network, x, state, final):
                return final[0][-1].copy(), final
        y, state = self.run(x[None], state)
        return y[0], state

    def run(self, x: np.ndarray, state: State | None = None) -> tuple[np.ndarray, State]:
        """y [T,B,H] and the state after the last step, from x [T,B,I].

        Memory beside y does not grow with T.
        """
        state = check_input(self.network, x, state)
        y = np.empty((*x.shape[:2], self.network.hidden_size), x.dtype)
        for start in range(0, len(x), CHUNK):
            part, final = x[start : start + CHUNK], tuple(np.empty_like(part) for part in state)
            for index in range(self.network.layers):
                before = tuple(array[index] for array in state)
                part, last = self._run_layer(self.network, index, part, before)
                for whole, array in zip(final, last, strict=True):
                    whole[index] = array
            y[start : start + CHUNK], state = part, final
        return y, state

    def stream(self, inputs: Iterable[np.ndarray], state: State | None = None) -> Iterator[np.ndarray]:
        """y [B,H] of each x [B,I], as they come."""
        for x in inputs:
            state = self.network.zero_state(len(x)) if state is None else state
            y, state = self.step(x, state)
            yield y

    def _fits(self, x: np.ndarray, state: State) -> bool:
        """May a compiled step take x and the state?  If not, `run` says why, or computes the step."""
        network, dtype = self.network, self.network.parameters["bias_ih_l0"].dtype
        shape = network.layers, len(x), network.hidden_size
        return (
            x.shape == (min(len(x), FEW), network.input_size)
            and x.dtype == dtype
            and x.flags.carray
            and len(state) == len(network.facts.states)
            and all(p.shape == shape and p.dtype == dtype and p.flags.carray for p in state)
        )


def _run_in_numpy(network: Network, index: int, x: np.ndarray, state: State) -> tuple[np.ndarray, State]:
    """h [T,B,H] of a layer and its final state, for any cell."""
    layer, h = network.layer(index), np.empty((*x.shape[:2], network.hidden_size), x.dtype)
    gates_x = x @ layer.weight_ih.T + layer.bias_ih
    for t, gates in enumerate(gates_x):
        state, _ = cells.forward(network.cell, gates, state, layer.weight_hh, layer.bias_hh, network.reset)
        h[t] = state[0]
    return h, state
