"""One step with weights of 16 or 8 bits: a half or a quarter of the bytes that a step of one sequence reads.

The network keeps its weights in float32; the narrow ones are made from them.  A weight that was changed in
place would go unseen, so the network's weight matrices become read-only: NumPy refuses to write to them
until `release`.  Another array under the same name is seen, and converted before the next step.
"""

import os
import threading
from functools import cache
from typing import NamedTuple

import numpy as np

from rnnlab.cells import State
from rnnlab.kernels.compiled import narrow, shared_blocks, threads
from rnnlab.kernels.compiled.narrow import OFFSET, ROWS, UNROLL
from rnnlab.kernels.compiled.narrow_step import layers_step
from rnnlab.kernels.packed import team
from rnnlab.kernels.packed.memory import aligned
from rnnlab.narrow import CONVERSIONS, Int8Weights
from rnnlab.network import Network, parameter_shapes

SHARE = 1 << 16  # bytes of a layer's weights that are worth another thread, about a microsecond


class Blocks(NamedTuple):
    """A matrix of narrow weights as products read it: ROWS rows side by side, with zeros behind the last."""

    values: np.ndarray  # [N/ROWS,steps,ROWS,c] uint16 or int8: c neighbours of a row fill 32 bits
    scale: np.ndarray  # [N, rounded up to blocks] float32; empty for bfloat16
    start: np.ndarray  # like scale, int32: what inputs of zeros, made unsigned by OFFSET, would add, negated


def to_blocks(weights: np.ndarray | Int8Weights) -> Blocks:
    """Narrow weights [N,K], as CONVERSIONS make them, in blocks."""
    if not isinstance(weights, Int8Weights):
        return Blocks(_interleaved(weights), np.empty(0, np.float32), np.empty(0, np.int32))
    values = _interleaved(weights.values)
    start = -OFFSET * values.sum((1, 3), dtype=np.int32).reshape(-1)
    scale = np.zeros(start.size, np.float32)
    scale[: len(weights.scale)] = weights.scale
    return Blocks(values, scale, start)


def _interleaved(values: np.ndarray) -> np.ndarray:
    N, K = values.shape
    c = 4 // values.itemsize
    steps = -(-K // (c * UNROLL)) * UNROLL
    rows = np.zeros((-(-N // ROWS) * ROWS, steps * c), values.dtype)
    rows[:N, :K] = values
    blocks = aligned((len(rows) // ROWS, steps, ROWS, c), values.dtype)
    blocks[:] = rows.reshape(-1, ROWS, steps, c).swapaxes(1, 2)
    return blocks


class Workplace:
    """What a step writes to beside its results, and the threads that help with it: for one step at a time."""

    def __init__(self, members: int):
        self.members = members
        self.job = np.zeros(shared_blocks.size(members), np.int64)
        self.awake = self.job[shared_blocks.CLAIMS + shared_blocks.AWAKE :: shared_blocks.APART]
        self.lock = threading.Lock()
        self.room = np.empty(0, np.uint32)

    def wake(self, most: int) -> int:
        """Members of a job, at most so many: those asleep are started, if the process may use them now."""
        members = most if most < self.members else self.members
        awake = self.awake
        for member in range(1, members):
            if not awake[member]:
                if member >= team.count():
                    return members
                awake[member] = 1
                threads.start(shared_blocks.serve, self.job, member)
        return members


@cache
def workplace() -> Workplace:
    """The one with helpers; a process that was forked has threads of its own."""
    return Workplace(team.count())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=workplace.cache_clear)


class NarrowWeights:
    """The weight matrices of a float32 network in "bfloat16" or "int8", never older than the network's."""

    def __init__(self, network: Network, precision: str):
        self.network = network
        self._convert = CONVERSIONS[precision]
        self._shapes = parameter_shapes(network.cell, network.input_size, network.hidden_size, network.layers)
        self._frozen: list[np.ndarray] = []
        self._sources: dict[str, np.ndarray | None] = {}
        self._biases: dict[str, np.ndarray] = {}
        self._blocks: dict[str, Blocks] = {}
        self._step = layers_step(network.cell)
        rows = network.gates * network.hidden_size
        self._plan = np.zeros(narrow.FIRST + 2 * narrow.FIELDS * network.layers, np.int64)
        self._head, layers = np.split(self._plan, [narrow.FIRST])
        self._head[narrow.GATE_ROWS] = rows
        self._head[narrow.BLOCKS] = -(-rows // ROWS)
        self._head[narrow.IS_BYTES] = precision == "int8"
        layers = layers.reshape(network.layers, 2, narrow.FIELDS)
        self._fields = {
            f"{kind}_{product}_l{layer}": layers[layer, number]
            for layer in range(network.layers)
            for number, product in enumerate(("ih", "hh"))
            for kind in ("weight", "bias")
        }
        self.refresh()
        words = layers[:, :, narrow.STEPS].max() * (2 - self._head[narrow.IS_BYTES])
        self._row = int(words) + 1  # 32-bit words of an input and its scale
        self._members = max(1, min(team.count(), self.nbytes // network.layers // SHARE))

    @property
    def nbytes(self) -> int:
        """Bytes of the narrow weights, scales and padding included."""
        return sum(part.nbytes for blocks in self._blocks.values() for part in blocks)

    def refresh(self) -> None:
        """Read each parameter that is another array than last time; convert weights that may have changed."""
        parameters = self.network.parameters
        for name, fields in self._fields.items():
            array = parameters[name]
            if array is not self._sources.get(name) or (array.ndim == 2 and array.flags.writeable):
                self._read(name, array, fields)

    def _read(self, name: str, array: np.ndarray, fields: np.ndarray) -> None:
        """Write the addresses of a parameter, or of what is made from it, to the fields of its product."""
        if array.shape != self._shapes[name]:
            raise ValueError(f"{name} has shape {array.shape}, expected {self._shapes[name]}")
        if array.ndim == 1:
            bias = np.require(array, "float32", ("C", "A"))
            fields[narrow.BIAS] = bias.ctypes.data
            self._biases[name] = bias
            self._sources[name] = array if bias is array else None  # a copy is made anew before each step
            return
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds a number that is not finite, which narrow weights cannot")
        self._freeze(array)
        blocks = to_blocks(self._convert(array))
        fields[[narrow.WEIGHTS, narrow.SCALE, narrow.START]] = [part.ctypes.data for part in blocks]
        fields[narrow.STEPS] = blocks.values.shape[1]
        self._blocks[name] = blocks
        self._sources[name] = array

    def release(self) -> None:
        """Make the network's weights writable again; the next step converts them anew."""
        for array in reversed(self._frozen):  # a view becomes writable only if its base is
            array.flags.writeable = True
        self._frozen.clear()
        self._sources.clear()

    def step(self, x: np.ndarray, state: State) -> tuple[np.ndarray, State] | None:
        """y [B,H] and the next state, each [L,B,H], from x [B,I] and a state, all float32 and contiguous.

        None if one of them holds a number that is not finite.
        """
        self.refresh()
        h = state[0]
        L, B, H = h.shape
        out = np.empty((len(state) * L, B, H), np.float32)
        place = workplace()
        if not place.lock.acquire(False):
            place = Workplace(1)  # another thread steps, too
            place.lock.acquire()
        try:
            members = place.wake(self._members)
            size = 2 * len(x) * self._row
            if size > place.room.size:
                place.room = np.empty(size, np.uint32)
            is_finite = self._step(x, h, state[-1], out, self._plan, place.room, place.job, members)
        finally:
            place.lock.release()
        if not is_finite:
            return None
        final = (out[:L], out[L:]) if len(state) > 1 else (out,)
        return out[L - 1].copy(), final  # a copy: whoever keeps y keeps no states

    def _freeze(self, array: np.ndarray | None) -> None:
        """Make an array, and those whose memory it shows, read-only."""
        while isinstance(array, np.ndarray):
            if array.flags.writeable:
                array.flags.writeable = False
                self._frozen.append(array)
            array = array.base
