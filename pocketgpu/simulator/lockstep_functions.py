"""Functions of numba.cuda for n threads at once: memory, barriers, atomics, shuffles.

They are methods of the execution, whose `node` is the call in the kernel's text.
"""

import operator
from collections.abc import Callable

import numpy as np

from pocketgpu.simulator import synchronisation, threads
from pocketgpu.simulator.accesses import position_of
from pocketgpu.simulator.grouping import tallied
from pocketgpu.simulator.lockstep_events import Event, Region
from pocketgpu.simulator.lockstep_memory import Memory
from pocketgpu.simulator.lockstep_threads import Threads
from pocketgpu.simulator.lockstep_values import Fallback, as_varying, cut
from pocketgpu.simulator.memory import DYNAMIC, LOCAL_BYTES, STATIC_SHARED, Local, Shared, numpy_dtype
from pocketgpu.simulator.synchronisation import FULL, atomic
from pocketgpu.simulator.trace import ATOMIC, BARRIER, EXCHANGE, LOAD, LOCAL, SHARED, WARP, WARP_SYNC, site_at

MOST_LOCAL = LOCAL_BYTES // 128  # of one array; few kernels have so many


class Functions(Threads):
    """Threads that call functions of numba.cuda."""

    def note(self, kind: int, *memory_and_cells: object, detail: tuple = ()) -> None:
        """Write down what the running threads do at the node."""
        self.run.stores += kind != LOAD
        self.chunk.note(Event(kind, self.site(), self.places, *memory_and_cells, detail=detail))

    def site(self) -> int:
        """The number of the node's place in the program."""
        return site_at(self.function.__code__, position_of(self.node))

    def index(self, function: Callable, *arguments: object) -> object:
        """What a function of a thread's index returns in the running threads."""
        value = self.chunk.find(function, *arguments)
        return value if len(self.places) == len(self.chunk.place) else cut(value, self.places)

    def length(self, value: object) -> int:
        """Size of an array's first axis, or of a tuple."""
        return value.one.shape[0] if isinstance(value, Memory) else len(value)

    def shared_array(self, shape: object, dtype: object, alignment: object = None) -> Memory:
        """The array of that place in the program, one for each block."""
        shared = self.chunk.shared
        dynamic = self.run.limits.dynamic_shared
        dtype = numpy_dtype(dtype)
        key = self.site(), shape, dtype
        if shape in (0, (0,)):
            key = (DYNAMIC,)
            shape = dynamic // dtype.itemsize
        if key not in shared:
            shared[key] = memory = self._new(SHARED, shape, dtype, self.chunk.block_of)
            memory.region = Region(memory.flat.size)
        static = sum(memory.one.nbytes for key, memory in shared.items() if key != (DYNAMIC,))
        if static + dynamic > STATIC_SHARED or shared[key].one.dtype != dtype:
            raise Fallback("much shared memory, or dynamic memory in two types")
        return shared[key]

    def local_array(self, shape: object, dtype: object, alignment: object = None) -> Memory:
        """A new array for each thread."""
        memory = self._new(LOCAL, shape, numpy_dtype(dtype), self.chunk.place)
        if memory.one.nbytes > MOST_LOCAL:
            raise Fallback("much local memory")
        return memory

    def _new(self, space: str, shape: object, dtype: np.dtype, copy_of: np.ndarray) -> Memory:
        """An array of each block or thread, in which nothing is written."""
        sizes = shape if isinstance(shape, tuple) else (shape,)
        data = np.zeros((int(copy_of[-1]) + 1, *map(int, sizes)), dtype)
        return Memory(data, space, np.zeros(data.size, bool), copy_of, self.site())

    def syncthreads(self) -> None:
        """Barrier: all threads of each block that comes have to come."""
        chunk = self.chunk
        comes = self._whole(chunk.block_of, chunk.blocks, chunk.size)
        self.note(BARRIER)
        chunk.pass_barrier(np.repeat(comes, chunk.size))

    def syncwarp(self, mask: object = FULL, kind: int = WARP_SYNC) -> None:
        """Whole warps come together; that orders nothing here: where that matters, a race is suspected."""
        self._whole(self.chunk.warp_of, self.chunk.warps, WARP)
        if int(mask) & FULL != FULL:
            raise Fallback("a mask other than all lanes")
        self.note(kind, detail=(FULL,))

    def _whole(self, group_of: np.ndarray, groups: int, size: int) -> np.ndarray:
        """[groups] Which blocks, or warps, of that size come here; group_of: [places]."""
        come = tallied(group_of.take(self.places), groups)
        if ((come != 0) & (come != size)).any():
            raise Fallback("a barrier that not all threads of a block, or a warp, reach")
        return come > 0

    def change(self, ufunc: np.ufunc, memory: Memory, index: object, value: object) -> None:
        """An atomic whose old value nobody uses, at one element or [n] of them."""
        if self.statement is not self.node:
            raise Fallback("an atomic whose old value is used")
        cells = memory.locate(index, self.places)
        self.note(ATOMIC, memory, cells)
        memory.change(ufunc, cells, value, in_loop=bool(self.loops))

    def shuffle(
        self, source_of: Callable, mask: object, value: object, operand: object, width: int = WARP
    ) -> object:
        """A shuffle; source_of(lane, operand): the lane whose value each takes, its own if there is none."""
        self.syncwarp(mask, EXCHANGE)
        place = np.arange(len(self.places))
        lane = place % WARP
        operand = as_varying(operand, len(place)).data.astype(np.int64)
        if width != WARP or operand.min() < 0:
            raise Fallback("a shuffle within a part of a warp, or by a negative number")
        source = source_of(lane, operand)
        is_there = (source >= 0) & (source < WARP)
        return cut(value, place + np.where(is_there, source - lane, 0))


def _lane_of(lane: np.ndarray, operand: np.ndarray) -> np.ndarray:
    return operand % WARP


UFUNCS = {
    "add": np.add, "sub": np.subtract, "and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor,
    "max": np.maximum, "min": np.minimum,
}  # fmt: skip
SHUFFLES = {
    "shfl_sync": _lane_of, "shfl_up_sync": operator.sub, "shfl_down_sync": operator.add,
    "shfl_xor_sync": operator.xor,
}  # fmt: skip
METHODS: dict[Callable, tuple] = {  # of functions that a kernel calls: the method, and its first arguments
    len: (Functions.length,),
    threads.grid: (Functions.index, threads.grid),
    threads.gridsize: (Functions.index, threads.gridsize),
    Shared.array: (Functions.shared_array,),
    Local.array: (Functions.local_array,),
    synchronisation.syncthreads: (Functions.syncthreads,),
    synchronisation.syncwarp: (Functions.syncwarp,),
}
for _name, _ufunc in UFUNCS.items():
    METHODS[getattr(atomic, _name)] = Functions.change, _ufunc
for _name, _source_of in SHUFFLES.items():
    METHODS[getattr(synchronisation, _name)] = Functions.shuffle, _source_of
