"""One step with weights of 16 or 8 bits: a half or a quarter of the bytes that a step of one sequence reads.

The network keeps its weights in float32; the narrow ones are made from them.  A weight that was changed in
place would go unseen, so the network's weight matrices become read-only: NumPy refuses to write to them
until `release`.  Another array under the same name is seen, and converted before the next step.
"""

from functools import partial

import numpy as np

from rnnlab.cells import State
from rnnlab.kernels.compiled import narrow, one_step
from rnnlab.kernels.compiled.threads import count, shares, together
from rnnlab.narrow import CONVERSIONS, Bfloat16Weights, Int8Weights
from rnnlab.network import Network

SHARE = 1 << 21  # bytes of weights that are worth another thread's start, some 40 µs


class NarrowWeights:
    """The weight matrices of a float32 network in "bfloat16" or "int8", never older than the network's."""

    def __init__(self, network: Network, precision: str, few: int):
        """few: sequences whose products read each weight once."""
        self.network = network
        self.few = few
        self._convert = CONVERSIONS[precision]
        self._names = [name for name, array in network.parameters.items() if array.ndim == 2]
        self._sources: dict[str, np.ndarray] = {}
        self._matrices: dict[str, Bfloat16Weights | Int8Weights] = {}
        self._frozen: list[np.ndarray] = []
        self.refresh()

    @property
    def nbytes(self) -> int:
        """Bytes of the narrow weights, scales and padding included."""
        return sum(part.nbytes for matrix in self._matrices.values() for part in matrix)

    def refresh(self) -> None:
        """Convert each matrix that is another array than last time, or that somebody may have written to."""
        parameters = self.network.parameters
        for name in self._names:
            array = parameters[name]
            if array is not self._sources.get(name) or array.flags.writeable:
                if not np.isfinite(array).all():
                    raise ValueError(f"{name} holds a number that is not finite, which narrow weights cannot")
                self._freeze(array)
                self._sources[name] = array
                self._matrices[name] = self._convert(array)

    def release(self) -> None:
        """Make the network's weights writable again; the next step converts them anew."""
        for array in reversed(self._frozen):  # a view becomes writable only if its base is
            array.flags.writeable = True
        self._frozen.clear()
        self._sources.clear()

    def step(self, x: np.ndarray, state: State) -> State | None:
        """The state after one step, each [L,B,H], from x [B,I] and a state, all float32.

        None if one of them holds a number that is not finite.
        """
        self.refresh()
        final = tuple(map(np.empty_like, state))
        for lo in range(0, len(x), self.few):
            part = slice(lo, lo + self.few)
            inputs = np.ascontiguousarray(x[part])
            for layer in range(self.network.layers):
                own = slice(layer, layer + 1)
                before = [np.ascontiguousarray(array[own, part]) for array in state]
                after = [array[own, part] for array in final]
                if not self._write(layer, inputs, before, after):
                    return None
                inputs = after[0][0]
        return final

    def _write(self, layer: int, x: np.ndarray, before: list[np.ndarray], after: list[np.ndarray]) -> bool:
        """Write a layer's state [1,B,H] after the step; False if an input is not finite."""
        weights = self._matrices[f"weight_ih_l{layer}"], self._matrices[f"weight_hh_l{layer}"]
        biases = self.network.layer(layer)[2:]
        states = before[0], before[-1], after[0], after[-1]
        parts = (weights[0].values.nbytes + weights[1].values.nbytes) // SHARE
        if parts < 2 or count() < 2:
            return narrow.layer_step(self.network.cell)(x, *weights, *biases, *states)
        if not all(np.isfinite(array).all() for array in (x, *before)):
            return False
        gates_x, gates_h = (np.empty((len(x), len(bias)), np.float32) for bias in biases)
        cuts = shares(len(biases[0]), min(count(), parts))
        factors = x, before[0][0], *weights
        together([partial(narrow.products, *factors, gates_x, gates_h, *cut) for cut in cuts])
        one_step.one_step(self.network.cell).finish(gates_x[None], gates_h, *biases, *states)
        return True

    def _freeze(self, array: np.ndarray | None) -> None:
        """Make an array, and those whose memory it shows, read-only."""
        while isinstance(array, np.ndarray):
            if array.flags.writeable:
                array.flags.writeable = False
                self._frozen.append(array)
            array = array.base
