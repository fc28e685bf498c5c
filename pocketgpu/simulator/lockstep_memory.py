"""Arrays of a launch in lockstep: accesses of many threads at once, and the proof that none is a fault.

An access is the cells [n] of n threads.  A race needs a cell that two threads touch between two barriers, and
that one of them writes: so for each cell it is enough to know one thread that touched it, and whether another
one did.  Between blocks nothing is ordered, so there one block is known for each cell as long as the launch
runs.
"""

import math
from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator.arithmetic import as_register
from pocketgpu.simulator.counts import SECTOR
from pocketgpu.simulator.lockstep_values import (
    AS_INDEX,
    INTEGERS,
    MANY,
    Fallback,
    Mixed,
    Varying,
    apart,
    as_varying,
    converted,
    kind_of,
)
from pocketgpu.simulator.trace import ATOMIC, GLOBAL, LOADS, STORE, WARP

MOST_WAITING = 1 << 22  # accesses to a region that nobody writes which are kept, and not noted
WRITTEN, PLAIN = 1, 2  # bits of a cell: by a store or an atomic; by an access that is not an atomic
ADDING = {np.add, np.subtract}
Size = tuple[int, int, int]


class Event(NamedTuple):
    """Accesses of several threads at one place of the program, or their arrival at a barrier or a shuffle."""

    kind: int
    site: int
    places: np.ndarray  # [n] of the threads in their chunk, ascending
    memory: "Memory | None" = None
    cells: np.ndarray | None = None  # [n] of the memory
    detail: tuple = ()

    def part(self, chosen: np.ndarray) -> "Event":
        """The accesses of the chosen threads [places]."""
        mask = chosen[self.places]
        return self._replace(places=self.places[mask], cells=self.cells[mask])


def _grouped(events: list[Event], key: Callable) -> list[list[Event]]:
    """Events with the same key."""
    groups: dict[object, list[Event]] = {}
    for event in events:
        groups.setdefault(key(event), []).append(event)
    return [*groups.values()]


def _merged(events: list[Event]) -> list[Event]:
    """Accesses, as one those of the same threads to the same cells: y[i] = a * x[i] + y[i] has two."""
    merged = []
    for group in _grouped(events, lambda event: (id(event.places), id(event.cells), id(event.memory))):
        kinds = {event.kind for event in group}
        merged.append(group[0]._replace(kind=kinds.pop() if len(kinds) == 1 else STORE))
    return merged


def _bits_of(access: Event) -> int:
    """What an access does to its cells."""
    return WRITTEN * (access.kind not in LOADS) | PLAIN * (access.kind != ATOMIC)


def _check_owners(accesses: list[Event], owner_of: np.ndarray) -> None:
    """Raise Fallback if several touch a cell, one writes it, and not all by atomics.

    owner_of: [places] the thread or block, counted from 1.
    """
    cells_of = [access.cells + access.memory.first for access in accesses]
    first = min(cells.min() for cells in cells_of)
    size = max(cells.max() for cells in cells_of) - first + 1
    done, is_shared = np.zeros((2, size), np.uint8)
    for access, cells in zip(accesses, cells_of, strict=True):
        cells -= first
        done[cells] |= _bits_of(access)
    if len(accesses) == 1 and np.count_nonzero(done) == len(cells_of[0]):
        return
    owners = np.zeros(size, np.int32)
    for access, cells in zip(accesses, cells_of, strict=True):
        owner = owner_of.take(access.places)
        before = owners.take(cells)
        owners[cells] = owner
        differs = (owners.take(cells) != owner) | ((before != owner) & (before != 0))
        is_shared[cells[differs]] = True
    if (is_shared & (done == WRITTEN | PLAIN)).any():
        raise Fallback("threads may race")


class Region:
    """Memory in which races are looked for: a global array and those that overlap it, or a shared one."""

    def __init__(self, cells: int, base: int = 0):
        self.base = base  # sectors of global memory before it
        self.done = np.zeros(cells, np.uint8)  # what earlier chunks did to each cell
        self.waiting: list[Event] = []  # accesses of theirs that are not in `done`
        self.is_written = False

    def check(self, accesses: list[Event], owner_of: np.ndarray) -> None:
        """Look for races between owners among these accesses."""
        accesses = _merged(accesses)
        if any(access.kind not in LOADS for access in accesses):
            self.is_written = True
            _check_owners(accesses, owner_of)

    def end_chunk(self, accesses: list[Event]) -> None:
        """Look for races between the blocks of a chunk and those of earlier ones."""
        accesses = _merged(accesses)
        if self.is_written or sum(len(access.places) for access in self.waiting) > MOST_WAITING:
            for access in self.waiting:
                self.done[access.cells + access.memory.first] |= _bits_of(access)
            self.waiting = []
            for access in accesses:
                before = self.done.take(access.cells + access.memory.first)
                if ((before != 0) & (before | _bits_of(access) == WRITTEN | PLAIN)).any():
                    raise Fallback("threads may race")
        self.waiting += accesses


REGION = attrgetter("memory.region")


class Chunk:
    """Blocks that run together, what each of their threads [places] belongs to, and what they did."""

    def __init__(self, grid: Size, block: Size, first_block: int, blocks: int):
        self.grid = grid
        self.block = block
        self.blocks = blocks
        self.size = math.prod(block)
        self.first_block = first_block
        self.first_thread = first_block * self.size
        self.place = np.arange(blocks * self.size, dtype=np.int64)
        block = np.arange(blocks, dtype=np.int64)
        self.block_of = np.repeat(block, self.size)
        warps_per_block = -(-self.size // WARP)
        self.warps = blocks * warps_per_block
        self.warp_of = np.add.outer(block * warps_per_block, self.place[: self.size] // WARP).reshape(-1)
        self.indices: dict[tuple, object] = {}  # threadIdx.x and the like
        self.latest = self.place, self.place, self.place  # threads, others, and where they stand among those
        self.ranked = self.place  # threads, and the number of each among them
        self.rank = self.place.copy()
        self.events: list[Event] = []
        self.since_barrier: list[Event] = []
        self.shared: dict[tuple, Memory] = {}  # by the place that makes it, shape and dtype

    def chosen(self, places: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Those of the threads for which the mask holds."""
        (chosen,) = mask.nonzero()
        self.latest = places.take(chosen), places, chosen
        return self.latest[0]

    def within(self, places: np.ndarray, outer: np.ndarray) -> np.ndarray:
        """[n] Where these threads stand among others, of which they are some."""
        if self.latest[0] is not places or self.latest[1] is not outer:
            if self.ranked is not outer:
                self.ranked = outer
                self.rank[outer] = np.arange(len(outer))
            self.latest = places, outer, self.rank.take(places)
        return self.latest[2]

    def pass_barrier(self, comes: np.ndarray) -> None:
        """Look for races before a barrier to which these threads [places] come."""
        before = [event for event in self.since_barrier if event.memory and event.memory.region]
        self.since_barrier = []
        if not comes.all():
            self.since_barrier = [event.part(~comes) for event in before]
            before = [event.part(comes) for event in before]
        for accesses in _grouped([event for event in before if len(event.places)], REGION):
            REGION(accesses[0]).check(accesses, self.place + 1)

    def end(self, span: int) -> int:
        """Look for races before the end, and between blocks.

        Returns how many sectors the warps moved of global memory, which has `span`, not counting atomics.
        """
        has_barriers = len(self.since_barrier) < len(self.events)
        self.pass_barrier(np.ones(len(self.place), bool))
        in_global = [event for event in self.events if event.memory and event.memory.space == GLOBAL]
        for accesses in _grouped(in_global, REGION):
            if has_barriers:  # else no two threads race
                REGION(accesses[0]).check(accesses, self.block_of + 1)
            REGION(accesses[0]).end_chunk(accesses)
        moving = [event for event in in_global if event.kind != ATOMIC]
        by_place = _grouped(moving, lambda event: (event.site, event.kind))
        return sum(self._sectors_of(events, span) for events in by_place)

    def _sectors_of(self, events: list[Event], span: int) -> int:
        """Sectors of the accesses at one place of the program, each once for a request of a warp."""
        keys = []
        turns = np.zeros(len(self.place), np.int64)
        for event in events:
            memory = event.memory
            key = self.warp_of.take(event.places)
            if len(events) > 1:
                key += turns.take(event.places)
                turns[event.places] += self.warps
            key *= span
            key += (event.cells + memory.first) * memory.data.itemsize // SECTOR
            key += memory.region.base
            keys.append(key)
        key = keys[0] if len(keys) == 1 else np.concatenate(keys)
        if (key[1:] < key[:-1]).any():
            key.sort()
        return 1 + np.count_nonzero(key[1:] != key[:-1])


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
        if data.dtype.kind not in "fiubc" or not data.flags.c_contiguous:
            raise Fallback(f"an array of {data.dtype}, or one with gaps")
        self.space = space
        self.number = number  # in the trace; 0 where it has none yet
        self.site = site  # where it was made
        self.copy_of = copy_of  # [places] which of its copies is a thread's; None if there is one
        self.data = data
        self.shape = data.shape if copy_of is None else data.shape[1:]
        self.ndim = len(self.shape)
        self.dtype = data.dtype
        self.flat = data.reshape(-1)
        self.size = math.prod(self.shape)
        self.written = written  # [cells] where a value is; None: everywhere
        self.region: Region | None = None
        self.first = 0  # cell of the region that its first one is
        self.ufuncs: set[np.ufunc] = set()  # by which atomics change it

    def locate(self, index: object, threads: np.ndarray) -> np.ndarray:
        """[n] The cells of threads at these places, without steps between them if all have the same."""
        indices = index if type(index) is tuple else (index,)
        cell, *others = [_within(axis, size) for axis, size in zip(indices, self.shape, strict=True)]
        for place, size in zip(others, self.shape[1:], strict=True):
            cell = cell * size + place
        if self.copy_of is not None:
            cell = cell + self.copy_of.take(threads) * self.size
        return cell if isinstance(cell, np.ndarray) else np.broadcast_to(np.int64(cell), len(threads))

    def load(self, cells: np.ndarray) -> object:
        """The elements."""
        self.check_written(cells)
        if cells.strides == (0,):
            return as_register(self.flat[cells[0]])
        return Varying(self.flat.take(cells), kind_of(self.dtype))

    def store(self, cells: np.ndarray, value: object) -> None:
        """Store a number of each thread."""
        self.flat[cells] = self.as_element(value)
        if self.written is not None:
            self.written[cells] = True

    def change(self, ufunc: np.ufunc, cells: np.ndarray, value: object) -> None:
        """An atomic of each thread, one after another."""
        self.check_written(cells)
        self.ufuncs.add(ufunc)
        if len(self.ufuncs) > 1 and not self.ufuncs <= ADDING:
            raise Fallback("atomics whose order matters")
        element = self.as_element(value)
        if ufunc in (np.maximum, np.minimum):
            is_same = element == (value.data if type(value) is Varying else value)
            if not np.all(is_same) or np.isnan(self.flat[cells]).any():
                raise Fallback("an atomic on NaN, or with a number that the array cannot hold")
        ufunc.at(self.flat, cells, element)

    def check_written(self, cells: np.ndarray) -> None:
        """Raise Fallback if one of the cells may have no value."""
        if self.written is not None and not self.written.take(cells).all():
            raise Fallback("a read of memory that nobody may have written")

    def as_element(self, value: object) -> np.ndarray:
        """[n] The numbers as elements of this array."""
        return apart(self._converted, value if type(value) in MANY else as_varying(value, 1)).data

    def _converted(self, value: Varying) -> Varying:
        data = converted(value, self.dtype)
        if data is None:
            raise Fallback("a float beyond the integers of the array")
        return Varying(data, kind_of(self.dtype))


def _within(index: object, size: int) -> np.ndarray | int:
    """An index, or those of all threads, counted from the first element."""
    if type(index) is Mixed:
        index = AS_INDEX(index)
    if type(index) is not Varying:
        if isinstance(index, bool) or not isinstance(index, int | np.integer) or not -size <= index < size:
            raise Fallback("an index that is not an integer, or beyond its array")
        return int(index) % size
    if index.kind not in INTEGERS or not index.lies_within(-size, size - 1):
        raise Fallback("an index that is not an integer, or may lie beyond its array")
    places = index.data.astype(np.int64, copy=False)
    return places if index.lies_within(0, size - 1) else np.where(places < 0, places + size, places)
