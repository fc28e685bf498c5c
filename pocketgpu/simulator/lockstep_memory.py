"""Arrays of a launch in lockstep: accesses of many threads at once, and the proof that none is a fault.

An access is the cells [n] of n threads.  A race needs a cell that two threads touch between two barriers, and
that one of them writes: so for each cell it is enough to know one thread that touched it, and whether another
one did.  Between blocks nothing is ordered, so there one block is known for each cell as long as the launch
runs.
"""

import functools
import operator
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator.arithmetic import as_bare, as_register
from pocketgpu.simulator.lockstep_lanes import Lanes
from pocketgpu.simulator.lockstep_values import (
    FLOATS,
    INTEGERS,
    SAFE,
    Fallback,
    Varying,
    kind_of,
)
from pocketgpu.simulator.trace import ATOMIC, LOAD, SHARED

MOST_WAITING = 1 << 22  # accesses to a region that are kept before their blocks are noted


class Event(NamedTuple):
    """Accesses of several threads at one place of the program, or their arrival at a barrier or a shuffle."""

    kind: int
    site: int
    lanes: Lanes
    memory: "Memory | None" = None
    cells: np.ndarray | None = None  # [n] of the memory
    detail: int = 0


class Owners:
    """For each cell a thread, or block, that touched it; did several, did one write, not by an atomic?"""

    def __init__(self, first: int, cells: int):
        self.first = first  # cell, of the region, that is the first one here
        self.one = np.zeros(cells, np.int32)  # counted from 1; 0 where nobody has
        self.several, self.written, self.plain = np.zeros((3, cells), bool)
        self.has_several = False

    def find_race(self, accesses: list["Accesses"], owner_of: np.ndarray, first: int) -> bool:
        """Add these accesses; is there a cell that several touch and one writes, and not all by atomics?

        owner_of: [places] owners of a chunk's threads, counted from `first`.
        """
        for access in accesses:
            cells = access.cells - self.first if self.first else access.cells
            owner = owner_of[access.lanes.places] + (first + 1)
            before = self.one[cells]
            self.one[cells] = owner
            differs = (self.one[cells] != owner) | ((before != owner) & (before != 0))
            if differs.any():
                self.has_several = True
                self.several[cells[differs]] = True
            if access.writes:
                self.written[cells] = True
            if access.is_plain:
                self.plain[cells] = True
        return self.has_several and bool((self.several & self.written & self.plain).any())


class Accesses(NamedTuple):
    """Accesses of threads to cells of a region."""

    lanes: Lanes
    cells: np.ndarray
    writes: bool
    is_plain: bool  # some are not atomics


def _merged(accesses: list[Accesses]) -> list[Accesses]:
    """Accesses, as one those of the same threads to the same cells: y[i] = a * x[i] + y[i] has two."""
    merged: dict[tuple, Accesses] = {}
    for access in accesses:
        key = id(access.lanes), id(access.cells)
        before = merged.get(key, access)
        merged[key] = before._replace(
            writes=before.writes or access.writes, is_plain=before.is_plain or access.is_plain
        )
    return [*merged.values()]


def _are_apart(accesses: list[Accesses]) -> bool:
    """Is it certain that no two threads touch the same cell?"""
    return len(accesses) == 1 and bool((accesses[0].cells[1:] > accesses[0].cells[:-1]).all())


class Region:
    """Memory in which races are looked for: a global array and those that overlap it, or a shared one."""

    def __init__(self, cells: int, itemsize: int, base: int | None = None):
        self.cells = cells
        self.itemsize = itemsize
        self.base = base  # sectors of global memory before it; None of shared memory
        self.since_barrier: list[Accesses] = []
        self.is_written = False
        self.of_chunk: list[Accesses] = []
        self.of_launch: list[
            tuple[list[Accesses], np.ndarray, int]
        ] = []  # whose blocks were not compared yet
        self.waiting = 0  # accesses among these
        self.is_ascending = True  # the cells that one thread after another touched
        self.last = -1  # of these
        self.by_block: Owners | None = None

    def add(self, kind: int, lanes: Lanes, cells: np.ndarray) -> None:
        """Note accesses of threads to these cells of the region."""
        access = Accesses(lanes, cells, kind != LOAD, kind != ATOMIC)
        self.since_barrier.append(access)
        self.is_written |= access.writes
        if self.base is not None:
            self.of_chunk.append(access)

    def pass_barrier(self, thread_of: np.ndarray, comes: np.ndarray | None = None) -> None:
        """Look for races among accesses before a barrier to which these threads [places] came; None: all."""
        before = self.since_barrier
        self.since_barrier = []
        if comes is not None:
            self.since_barrier = _part_of(before, ~comes)
            before = _part_of(before, comes)
        if not any(access.writes for access in before):
            return
        before = _merged(before)
        if _are_apart(before):
            return
        first = min(int(access.cells.min()) for access in before)
        last = max(int(access.cells.max()) for access in before)
        if Owners(first, last - first + 1).find_race(before, thread_of, 0):
            raise Fallback("two threads may race")

    def end_chunk(self, block_of: np.ndarray, first_block: int) -> None:
        """Look for races with the blocks of other chunks, where there may be one."""
        accesses = _merged(self.of_chunk)
        self.of_chunk = []
        self.of_launch.append((accesses, block_of, first_block))
        self.waiting += sum(len(access.cells) for access in accesses)
        self.is_ascending &= self._lie_behind(accesses)
        if self.waiting < MOST_WAITING and (self.is_ascending or not self.is_written):
            return
        if self.by_block is None:
            self.by_block = Owners(0, self.cells)
        for of_chunk in self.of_launch:
            if self.by_block.find_race(*of_chunk):
                raise Fallback("two blocks may race")
        self.of_launch = []
        self.waiting = 0

    def _lie_behind(self, accesses: list[Accesses]) -> bool:
        """Does each thread of the chunk touch a cell of its own, behind those of all chunks before?"""
        if not accesses:
            return True
        if not _are_apart(accesses) or accesses[0].cells[0] <= self.last:
            return False
        self.last = int(accesses[0].cells[-1])
        return True


def _part_of(accesses: list[Accesses], chosen: np.ndarray) -> list[Accesses]:
    """The accesses of the chosen threads [places]."""
    result = []
    for access in accesses:
        mask = chosen[access.lanes.places]
        if mask.any():
            lanes = Lanes(access.lanes.places[mask])
            result.append(access._replace(lanes=lanes, cells=access.cells[mask]))
    return result


class Memory:
    """An array as threads in lockstep see it; of a shared or local one `data` has all blocks' or threads'."""

    def __init__(
        self,
        data: np.ndarray,
        space: str,
        number: int = 0,
        copy_of: np.ndarray | None = None,
        written: np.ndarray | None = None,
        site: int = 0,
    ):
        self.space = space
        self.is_shared = space == SHARED
        self.number = number  # in the trace; 0 where it has none yet
        self.site = site  # where it was made
        self.copy_of = copy_of  # [places] which of its copies is a thread's; None if there is one
        self.data = data
        self.shape = data.shape if copy_of is None else data.shape[1:]
        self.dtype = data.dtype
        self.kind = kind_of(data.dtype)
        self.flat = _flat(data)
        self.steps = [step // data.itemsize for step in data.strides[len(data.shape) - len(self.shape) :]]
        self.size = int(np.prod(self.shape))
        self.written = written  # [cells] where a value is; None: everywhere
        self.region: Region | None = None
        self.first = 0  # cell of the region that its first one is
        self.ufuncs: set[np.ufunc] = set()  # by which atomics change it
        self.cell = as_bare(np.zeros(1, data.dtype))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def locate(self, index: object, now: Lanes) -> np.ndarray | int:
        """[n] The cell of each thread's element, or the one of all."""
        indices = index if type(index) is tuple else (index,)
        if len(indices) != len(self.shape):
            raise Fallback("an index that names more than one element")
        places = [_within(axis, size) for axis, size in zip(indices, self.shape, strict=True)]
        parts = [place if step == 1 else place * step for place, step in zip(places, self.steps, strict=True)]
        if self.copy_of is not None:
            parts.append(self.copy_of[now.places] * self.size)
        return functools.reduce(operator.add, parts)

    def load(self, cells: np.ndarray | int) -> object:
        """The elements."""
        if self.written is not None and not self.written[cells].all():
            raise Fallback("a read of memory that nobody may have written")
        values = self.flat[cells]
        return Varying(values, self.kind) if isinstance(cells, np.ndarray) else as_register(values)

    def store(self, cells: np.ndarray | int, value: object) -> None:
        """Store a number of each thread."""
        value = self.as_element(value)
        self.flat[cells] = value if isinstance(cells, np.ndarray) or np.ndim(value) == 0 else value[-1]
        if self.written is not None:
            self.written[cells] = True

    def change(self, ufunc: np.ufunc, cells: np.ndarray, value: object) -> None:
        """An atomic of each thread, one after another."""
        if self.written is not None and not self.written[cells].all():
            raise Fallback("an atomic on memory that nobody may have written")
        if self.ufuncs - {ufunc} - ({np.add, np.subtract} if ufunc in (np.add, np.subtract) else set()):
            raise Fallback("atomics whose order matters")
        self.ufuncs.add(ufunc)
        if ufunc in (np.maximum, np.minimum):
            self._check_order(cells, value)
        ufunc.at(self.flat, cells, self.as_element(value))

    def _check_order(self, cells: np.ndarray, value: object) -> None:
        """Raise Fallback where the larger of two numbers depends on more than their order."""
        values = value.data if type(value) is Varying else np.asarray(value)
        wide = self.as_element(value)
        if not (wide == values).all() or (self.flat[cells] != self.flat[cells]).any():
            raise Fallback("an atomic on NaN, or with a number that the array cannot hold")

    def as_element(self, value: object) -> object:
        """The numbers as elements of this array."""
        if type(value) is not Varying:
            self.cell[0] = value
            return np.asarray(self.cell)[0]
        to = self.dtype.kind
        data = value.data
        if to in "iu" and value.kind in FLOATS:
            most = min(SAFE, np.iinfo(self.dtype).max)
            if not value.lies_within(most) or value.bounds()[0] < np.iinfo(self.dtype).min:
                raise Fallback("a float beyond the integers of the array")
        if to == "f" and value.kind is int:
            data = data.astype(np.float64)
        return data.astype(self.dtype, copy=False)


def _flat(data: np.ndarray) -> np.ndarray:
    """The memory of an array of any shape as one row of cells."""
    if data.flags.c_contiguous:
        return data.reshape(-1)
    steps = [step // data.itemsize for step in data.strides]
    if data.dtype.kind not in "fiub" or any(step < 0 or step % data.itemsize for step in data.strides):
        raise Fallback("an array whose elements do not lie one behind another")
    cells = (
        1 + sum(step * (size - 1) for step, size in zip(steps, data.shape, strict=True)) if data.size else 0
    )
    return np.lib.stride_tricks.as_strided(data, (cells,), (data.itemsize,))


def _within(index: object, size: int) -> np.ndarray | int:
    """An index, or those of all threads, counted from the first element."""
    if type(index) is Varying:
        if index.kind not in INTEGERS:
            raise Fallback("an index that is not an integer")
        low, high = index.bounds()
    else:
        if isinstance(index, bool) or not isinstance(index, int | np.integer):
            raise Fallback("an index that is not an integer")
        low = high = int(index)
    if low < -size or high >= size:
        raise Fallback("an index may lie beyond its array")
    if type(index) is not Varying:
        return low % size
    places = index.data.astype(np.int64, copy=False)
    return np.where(places < 0, places + size, places) if low < 0 else places
