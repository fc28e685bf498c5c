"""A network that only answers: one step, or a stream of any length, without what a gradient needs.

A step of one sequence reads each weight once and multiplies it once, so to transpose or pack the weights is
several steps' work.  PyTorch's layout has each unit's weights in a row, in the order in which the product of
one sequence reads them.  So nothing is laid out: a step reads the parameters where they lie, and a parameter
that changes, in place or by a new array, counts from the next step on.

    answer = Inference(network)
    y, state = answer.step(x, state)           x [B,I] -> y [B,H]
    y, state = answer.run(x, state)            x [T,B,I] -> y [T,B,H], forward of a rung, CHUNK by CHUNK

A step takes as long as reading the weights takes.  Inference(network, weights="bfloat16") keeps them in 16
bits, weights="int8" in 8 bits with a scale a row, and then rounds each input to 8 bits too.  What that costs
in accuracy depends on the weights and the data: compare the two on your own.
"""

import warnings
from functools import partial
from importlib.util import find_spec

import numpy as np

from pocketgpu.remedies import pip_install
from rnnlab.cells import State
from rnnlab.ladder import numba_fused, one_big_gemm
from rnnlab.narrow import CONVERSIONS
from rnnlab.network import Network, check_input, check_network
from rnnlab.resources import in_browser

CHUNK = 64  # steps of `run` of which something is saved at once
FEW = 8  # sequences whose products read each weight once


class Inference:
    """Steps of a network, whose parameters are read anew in each of them."""

    def __init__(self, network: Network, weights: str = ""):
        """weights: "bfloat16" or "int8" to keep them narrow; nothing for the network's own type.

        Raises ValueError for other weights, and for a network that no compiled step computes.
        """
        self.network = check_network(network)
        self.rung = one_big_gemm
        self._weights = weights
        self._dtype = np.dtype(network.dtype)
        self._write_step = None
        self._narrow = None
        self._states = len(network.properties.states)
        has_kernels = network.cell in numba_fused.PROPERTIES.cells
        is_compiled = has_kernels and not network.properties.resets_before
        is_narrow = weights not in ("", network.dtype)
        if is_narrow:
            self._check_narrow(weights, is_compiled)
        if is_compiled and find_spec("numba"):
            from rnnlab.kernels.compiled import propagation

            self.rung = numba_fused
            self._write_step = partial(propagation.write_step, network)
        elif is_compiled and not in_browser():
            remedy = pip_install("numba", "scipy")
            warnings.warn(f"Numba is not installed, so that no step is compiled: {remedy}", stacklevel=2)
        if is_narrow:
            from rnnlab.ladder.narrow_weights import NarrowWeights

            self._narrow = NarrowWeights(network, weights)
            self._next_step = self._narrow.step

    def __reduce__(self):
        """A copy, in this process or another one, makes narrow weights of its own network."""
        return type(self), (self.network, self._weights)

    @property
    def nbytes(self) -> int:
        """Bytes of weights and biases that a step of one sequence reads."""
        parameters = self.network.parameters.values()
        if self._narrow:
            vectors = [array for array in parameters if array.ndim == 1]
            return self._narrow.nbytes + sum(array.nbytes for array in vectors)
        return sum(array.nbytes for array in parameters)

    def release(self) -> None:
        """Let the network's weights be written again, which narrow weights make read-only.

        The next step converts them anew, and makes them read-only again.
        """
        if self._narrow:
            self._narrow.release()

    def step(self, x: np.ndarray, state: State | None = None) -> tuple[np.ndarray, State]:
        """y [B,H] and the next state, each [L,B,H], from x [B,I] and the state (zeros if None).

        Raises ValueError for an x or a state that does not fit the network.
        """
        if self._write_step and state is not None and self._fits(x, state):
            results = self._next_step(x, state)
            if results is not None:
                return results
        shape = np.shape(x)
        I = self.network.input_size
        if shape[1:] != (I,):
            raise ValueError(
                f"x has shape {shape}, expected (B, {I}): a step takes one input of each sequence, "
                f"and run takes sequences (T, B, {I})"
            )
        sequences = x[None] if isinstance(x, np.ndarray) else x
        y, state = self.run(sequences, state)
        return y[0], state

    def _next_step(self, x: np.ndarray, state: State) -> tuple[np.ndarray, State] | None:
        """y and the state after a compiled step; None if x or the state is not finite."""
        final = tuple(map(np.empty_like, state))
        if not self._write_step(x, state, final):
            return None
        h = final[0]
        return h[-1].copy(), final

    def run(self, x: np.ndarray, state: State | None = None) -> tuple[np.ndarray, State]:
        """y [T,B,H] and the state after the last step, from x [T,B,I].

        Memory beside y does not grow with T.
        """
        state = check_input(self.network, x, state)
        T, B, _ = x.shape
        y = np.empty((T, B, self.network.hidden_size), x.dtype)
        if self._narrow:
            x, *state = (np.require(array, requirements=("C", "A", "W")) for array in (x, *state))
            for t, inputs in enumerate(x):
                results = self._narrow.step(inputs, state)
                if results is None:
                    raise ValueError(
                        f"the state before step {t} of {T} is not finite: it has grown too large"
                    )
                y[t], state = results
            return y, state
        for start in range(0, T, CHUNK):
            part = slice(start, start + CHUNK)
            y[part], state, _ = self.rung.forward(self.network, x[part], state)
        return y, state

    def _check_narrow(self, weights: str, is_compiled: bool) -> None:
        """Raise ValueError unless the network's steps can be computed with such weights."""
        network = self.network
        if weights not in CONVERSIONS:
            names = ", ".join(map(repr, CONVERSIONS))
            raise ValueError(f"weights={weights!r}: choose from {names}, or leave it out for {network.dtype}")
        if network.dtype != "float32":
            raise ValueError(
                f"weights={weights!r} are made from float32, the network is {network.dtype}: "
                "use network.astype('float32')"
            )
        if not is_compiled:
            names = ", ".join(numba_fused.PROPERTIES.cells)
            raise ValueError(
                f"weights={weights!r} need a compiled step; {network.properties.name} has none, "
                f"but {names} have"
            )
        if network.properties.vectors:
            raise ValueError(
                f"weights={weights!r} are for cells without vectors: leave it out for {network.cell!r}"
            )
        if not find_spec("numba"):
            remedy = pip_install("numba", "scipy")
            raise ValueError(f"weights={weights!r} need Numba: {remedy}")

    def _fits(self, x: np.ndarray, state: State) -> bool:
        """May a compiled step take x and the state?  If not, `run` says why, or computes the step.

        A type is one object, but for byte orders that no compiled step reads.
        """
        network = self.network
        if not isinstance(x, np.ndarray) or x.ndim != 2:
            return False
        B, I = x.shape
        if not 0 < B <= FEW or I != network.input_size:
            return False
        if x.dtype is not self._dtype or not x.flags.carray:
            return False
        if not isinstance(state, (tuple, list)) or len(state) != self._states:
            return False
        shape = network.layers, B, network.hidden_size
        for part in state:  # a generator would take 0.2 µs
            has_type = getattr(part, "dtype", None) is x.dtype
            if not has_type or part.shape != shape or not part.flags.carray:
                return False
        return True
