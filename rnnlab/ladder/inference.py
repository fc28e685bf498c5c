"""A network that only answers: one step, or a stream of any length, without what a gradient needs.

A step of one sequence reads each weight once and multiplies it once, so to transpose or pack the weights is
several steps' work.  PyTorch's layout has each unit's weights in a row, in the order in which the product of
one sequence reads them.  So nothing is laid out: a step reads the parameters where they lie, and a parameter
that changes, in place or by a new array, counts from the next step on.

    answer = Inference(network)
    y, state = answer.step(x, state)           x [B,I] -> y [B,H]
    y, state = answer.run(x, state)            x [T,B,I] -> y [T,B,H], forward of a rung, CHUNK by CHUNK
"""

import sys
import warnings
from functools import partial
from importlib.util import find_spec

import numpy as np

from rnnlab.cells import State
from rnnlab.ladder import numba_fused, one_big_gemm
from rnnlab.network import Network, check_input
from rnnlab.resources import in_browser

CHUNK = 64  # steps of `run` of which something is saved at once
FEW = 8  # sequences whose products read each weight once


class Inference:
    """Steps of a network, whose parameters are read anew in each of them."""

    def __init__(self, network: Network):
        self.network = network
        self.rung = one_big_gemm
        self._write_step = None
        self._states = len(network.facts.states)
        if network.cell not in numba_fused.FACTS.cells or network.facts.resets_before:
            return
        if find_spec("numba"):
            from rnnlab.kernels.compiled import one_step, passes

            self.rung = numba_fused
            self._write_step = partial(passes.write_step, one_step.KINDS[network.facts.name], network)
        elif not in_browser():
            install = f"{sys.executable} -m pip install 'rnnlab[fast]'"
            warnings.warn(f"Numba is not installed, so that no step is compiled: {install}", stacklevel=2)

    def step(self, x: np.ndarray, state: State | None = None) -> tuple[np.ndarray, State]:
        """y [B,H] and the next state, each [L,B,H], from x [B,I] and the state (zeros if None).

        Raises ValueError for an x or a state that does not fit the network.
        """
        if self._write_step and state is not None and self._fits(x, state):
            final = tuple(map(np.empty_like, state))
            if self._write_step(x, state, final):
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
            part = slice(start, start + CHUNK)
            y[part], state, _ = self.rung.forward(self.network, x[part], state)
        return y, state

    def _fits(self, x: np.ndarray, state: State) -> bool:
        """May a compiled step take x and the state?  If not, `run` says why, or computes the step.

        A type is one object, but for byte orders that no compiled step reads.
        """
        network = self.network
        dtype = self.network.parameters["bias_ih_l0"].dtype
        shape = network.layers, len(x), network.hidden_size
        return (
            x.shape == (min(len(x), FEW), network.input_size)
            and x.dtype is dtype
            and x.flags.carray
            and len(state) == self._states
            and all(part.shape == shape and part.dtype is dtype and part.flags.carray for part in state)
        )
