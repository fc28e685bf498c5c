"""One step with weights of 16 or 8 bits: a half or a quarter of the bytes that a step of one sequence reads.

The network keeps its weights in float32; the narrow ones are made from them.  A weight that was changed in
place would go unseen, so the network's weight matrices become read-only: NumPy refuses to write to them
until `release`, or until nothing is left that was made from them.  Another array under the same name is seen,
and converted before the next step; so is, before each step, memory whose owner NumPy does not know, such as
PyTorch.  What is written through another view that was made before, or by another process, is not seen.
"""

import os
import threading
import weakref
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
from rnnlab.network import Network, check_array, check_shapes

SHARE = 1 << 16  # bytes of a layer's weights that are worth another thread, about a microsecond


class Blocks(NamedTuple):
    """A matrix of narrow weights as products read it: ROWS rows side by side, with zeros behind the last."""

    values: np.ndarray  # [N/ROWS,steps,ROWS,c] uint16 or int8: c neighbours of a row fill 32 bits
    scale: np.ndarray  # [N, rounded up to blocks] float32; empty for bfloat16
    start: np.ndarray  # like scale, int32: what inputs of zeros, made unsigned by OFFSET, would add, negated


def to_blocks(weights: np.ndarray | Int8Weights) -> Blocks:
    """Narrow weights [N,K], as CONVERSIONS make them, in blocks."""
    if not isinstance(weights, Int8Weights):
        no_scale = np.empty(0, np.float32)
        no_start = np.empty(0, np.int32)
        return Blocks(_interleaved(weights), no_scale, no_start)
    values = _interleaved(weights.values)
    row_sums = values.sum((1, 3), dtype=np.int32).reshape(-1)
    start = -OFFSET * row_sums
    scale = np.zeros(start.size, np.float32)
    scale[: len(weights.scale)] = weights.scale
    return Blocks(values, scale, start)


def _interleaved(values: np.ndarray) -> np.ndarray:
    N, K = values.shape
    c = 4 // values.itemsize
    steps = -(-K // (c * UNROLL)) * UNROLL
    count = -(-N // ROWS)  # of blocks
    rows = np.zeros((count * ROWS, steps * c), values.dtype)
    rows[:N, :K] = values
    blocks = aligned((count, steps, ROWS, c), values.dtype)
    blocks[:] = rows.reshape(count, ROWS, steps, c).swapaxes(1, 2)
    return blocks


class Workplace:
    """What a step writes to beside its results, and the threads that help with it: for one step at a time."""

    def __init__(self, members: int):
        self.members = members
        self.job = np.zeros(shared_blocks.size(members), np.int64)
        first_flag = shared_blocks.CLAIMS + shared_blocks.AWAKE
        self.awake = self.job[first_flag :: shared_blocks.APART]
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


_lock = threading.RLock()  # for one plan at a time that is renewed, and for no seal to break meanwhile
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
    os.register_at_fork(after_in_child=workplace.cache_clear)


class Seal:
    """Memory that is read-only as long as something is used that was made from it."""

    def __init__(self):
        self.arrays: list[np.ndarray] | None = []  # each after the one whose memory it shows; None: broken

    def open(self) -> None:
        """Let the memory be written."""
        with _lock:  # what is garbage opens in any thread, also in one that renews a plan
            arrays = self.arrays or ()
            self.arrays = None  # first: who finds the memory writable later knows that it was
            for array in arrays:
                array.flags.writeable = True

    __del__ = open


SEALS: weakref.WeakValueDictionary[int, Seal] = weakref.WeakValueDictionary()  # by id of the memory's owner


def sealed(array: np.ndarray) -> Seal:
    """The seal of an array, which becomes read-only, as do those whose memory it shows."""
    chain = [array]
    while isinstance(chain[0].base, np.ndarray):
        chain.insert(0, chain[0].base)
    owner = chain[0]
    seal = SEALS.get(id(owner)) or Seal()
    if any(part.flags.writeable for part in seal.arrays or ()):  # by hand
        seal.open()
    if seal.arrays is None:
        seal = Seal()
    SEALS[id(owner)] = seal
    try:
        memoryview(array if owner.base is None else owner.base)
    except TypeError:
        return seal  # NumPy would not let memory of such an owner be written again
    for part in chain:
        if part.flags.writeable:
            seal.arrays.append(part)
            part.flags.writeable = False
    return seal


class Plan(NamedTuple):
    """What a step reads; another plan takes its place, so that a step in another thread keeps its own."""

    numbers: np.ndarray  # see layers_step, with addresses of the last of:
    sources: dict[str, tuple]  # array or None, which is read before each step; its Seal; Blocks, or a bias


class NarrowWeights:
    """The weight matrices of a float32 network in "bfloat16" or "int8", never older than the network's."""

    def __init__(self, network: Network, precision: str):
        self.network = network
        self._precision = precision
        self._step = layers_step(network.cell)
        rows = network.gates * network.hidden_size
        products = 2 * network.layers  # with x and with h
        is_bytes = precision == "int8"
        numbers = np.zeros(narrow.FIRST + products * narrow.FIELDS, np.int64)
        numbers[narrow.GATE_ROWS] = rows
        numbers[narrow.BLOCKS] = -(-rows // ROWS)
        numbers[narrow.IS_BYTES] = is_bytes
        unread = (None, None, ())
        self._plan = Plan(numbers, dict.fromkeys(network.shapes, unread))
        numbers = self.refresh().numbers
        most_steps = int(numbers[narrow.FIRST + narrow.STEPS :: narrow.FIELDS].max())
        words_per_step = 1 if is_bytes else 2
        self._row = most_steps * words_per_step + 1  # 32-bit words of an input and its scale
        shares = self.nbytes // network.layers // SHARE
        self._members = max(1, min(team.count(), shares))

    def __reduce__(self):
        """A copy has weights of its own: a plan holds addresses."""
        return type(self), (self.network, self._precision)

    @property
    def nbytes(self) -> int:
        """Bytes of the narrow weights, scales and padding included."""
        total = 0
        for _, _, parts in self._plan.sources.values():
            if isinstance(parts, Blocks):
                total += sum(array.nbytes for array in parts)
        return total

    def refresh(self) -> Plan:
        """A plan in which no parameter is older than the network's."""
        return self._renew() if self._changed() else self._plan

    def _changed(self) -> list[str]:
        """Names of the parameters that are other arrays than last time, or may have been written to."""
        parameters = self.network.parameters
        changed = []
        for name, (array, seal, _) in self._plan.sources.items():
            is_other = parameters[name] is not array
            if is_other or (seal and (seal.arrays is None or array.flags.writeable)):
                changed.append(name)
        return changed

    def _renew(self) -> Plan:
        """Read each parameter that is another array than last time; convert weights that may have changed."""
        with _lock:
            check_shapes(self.network)
            plan = Plan(*(part.copy() for part in self._plan))
            parameters = self.network.parameters
            changed = {name: parameters[name] for name in self._changed()}
            for name, array in changed.items():
                check_array(name, array, array.dtype)
            for name, array in changed.items():
                self._read(name, array, plan)
            self._plan = plan
            return plan

    def _read(self, name: str, array: np.ndarray, plan: Plan) -> None:
        """Write the addresses of a parameter, or of what is made from it, to the fields of its product."""
        kind, product, layer = name.split("_")
        index = 2 * int(layer[1:]) + (product == "hh")
        first_field = narrow.FIRST + narrow.FIELDS * index
        fields = plan.numbers[first_field : first_field + narrow.FIELDS]
        if kind == "bias":
            bias = np.require(array, "float32", ("C", "A"))
            fields[narrow.BIAS] = bias.ctypes.data
            source = array if bias is array else None  # a copy is made anew before each step
            plan.sources[name] = source, None, bias
            return
        seal = sealed(array)
        blocks = to_blocks(CONVERSIONS[self._precision](array))
        fields[narrow.WEIGHTS] = blocks.values.ctypes.data
        fields[narrow.SCALE] = blocks.scale.ctypes.data
        fields[narrow.START] = blocks.start.ctypes.data
        _, steps, *_ = blocks.values.shape
        fields[narrow.STEPS] = steps
        plan.sources[name] = array, seal, blocks

    def release(self) -> None:
        """Make the network's weights writable again; the next step converts them anew."""
        for _, seal, _ in self._plan.sources.values():
            if seal:
                seal.open()

    def step(self, x: np.ndarray, state: State) -> tuple[np.ndarray, State] | None:
        """y [B,H] and the next state, each [L,B,H], from x [B,I] and a state, all float32 and contiguous.

        None if one of them holds a number that is not finite.
        """
        plan = self.refresh()
        L, B, H = state[0].shape
        out = np.empty((len(state) * L, B, H), np.float32)
        place = workplace()
        if not place.lock.acquire(False):
            place = Workplace(1)  # another thread steps, too
            place.lock.acquire()
        try:
            members = place.wake(self._members)
            size = 2 * B * self._row
            room = place.room
            if size > room.size:
                place.room = room = np.empty(size, np.uint32)
            is_finite = self._step(x, state[0], state[-1], out, plan.numbers, room, place.job, members)
        finally:
            place.lock.release()
        if not is_finite:
            return None
        y = out[L - 1].copy()  # a copy: whoever keeps y keeps no states
        if len(state) > 1:
            return y, (out[:L], out[L:])
        return y, (out,)
