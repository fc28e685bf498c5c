"""Arrays of a launch in lockstep: accesses of many threads at once, and the proof that none is a fault.

An access is the cells [n] of n threads.  A race needs a cell that two threads touch between two barriers, and
that one of them writes: so for each cell it is enough to know one thread that touched it, and whether another
one did.  Between blocks nothing is ordered, so there one block is known for each cell as long as the launch
runs.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator.arithmetic import as_register
from pocketgpu.simulator.counts import SECTOR
from pocketgpu.simulator.lockstep_values import (
    INTEGERS,
    MANY,
    Fallback,
    Varying,
    apart,
    as_varying,
    converted,
    kind_of,
)
from pocketgpu.simulator.trace import ATOMIC, GLOBAL, LOADS, STORE, WARP

MOST_WAITING = 1 << 22  # accesses to a region that are kept before their blocks are noted
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


def _are_apart(accesses: list[Event]) -> bool:
    """Is it certain that no two threads touch the same cell?"""
    return len(accesses) == 1 and bool((np.diff(accesses[0].cells) > 0).all())


class Owners:
    """For each cell a thread, or block, that touched it; did several, did one write, not by an atomic?"""

    def __init__(self, first: int, cells: int):
        self.first = first  # cell, of the region, that is the first one here
        self.one = np.zeros(cells, np.int32)  # counted from 1; 0 where nobody has
        self.several, self.written, self.plain = np.zeros((3, cells), bool)

    def check(self, accesses: list[Event], owner_of: np.ndarray) -> None:
        """Add accesses; raise Fallback if several touch a cell, one writes it, and not all by atomics.

        owner_of: [places] the thread or block, counted from 1.
        """
        for access in accesses:
            cells = access.cells + (access.memory.first - self.first)
            owner = owner_of[access.places]
            before = self.one[cells]
            self.one[cells] = owner
            differs = (self.one[cells] != owner) | ((before != owner) & (before != 0))
            self.several[cells[differs]] = True
            self.written[cells] |= access.kind not in LOADS
            self.plain[cells] |= access.kind != ATOMIC
            if (self.several[cells] & self.written[cells] & self.plain[cells]).any():
                raise Fallback("threads may race")


class Region:
    """Memory in which races are looked for: a global array and those that overlap it, or a shared one."""

    def __init__(self, cells: int, base: int = 0):
        self.cells = cells
        self.base = base  # sectors of global memory before it
        self.is_written = False
        self.waiting: list[tuple[list[Event], np.ndarray]] = []  # whose blocks were not compared yet
        self.last: float = -1  # cell that is touched, if one thread after another touched those behind
        self.by_block: Owners | None = None

    def check_threads(self, accesses: list[Event], thread_of: np.ndarray) -> None:
        """Look for races between threads among accesses before a barrier."""
        accesses = _merged(accesses)
        if any(access.kind not in LOADS for access in accesses) and not _are_apart(accesses):
            first = min(int(access.cells.min()) + access.memory.first for access in accesses)
            last = max(int(access.cells.max()) + access.memory.first for access in accesses)
            Owners(first, last - first + 1).check(accesses, thread_of)

    def check_blocks(self, accesses: list[Event], block_of: np.ndarray) -> None:
        """Look for races between blocks, where there may be one, with those of other chunks, too."""
        accesses = _merged(accesses)
        self.waiting.append((accesses, block_of))
        self.is_written |= any(access.kind not in LOADS for access in accesses)
        first, last = (int(accesses[0].cells[end]) + accesses[0].memory.first for end in (0, -1))
        is_behind = _are_apart(accesses) and first > self.last
        self.last = last if is_behind else math.inf
        count = sum(len(access.places) for of_chunk, _ in self.waiting for access in of_chunk)
        if count < MOST_WAITING and (is_behind or not self.is_written):
            return
        if self.by_block is None:
            self.by_block = Owners(0, self.cells)
        for of_chunk in self.waiting:
            self.by_block.check(*of_chunk)
        self.waiting = []


class Chunk:
    """Blocks that run together, what each of their threads [places] belongs to, and what they did."""

    def __init__(self, grid: Size, block: Size, first_block: int, blocks: int):
        self.grid = grid
        self.block = block
        self.blocks = blocks
        self.size = math.prod(block)
        self.first_thread = first_block * self.size
        self.place = np.arange(blocks * self.size, dtype=np.int64)
        self.local_of = np.tile(self.place[: self.size], blocks)
        self.block_of = np.repeat(np.arange(blocks, dtype=np.int64), self.size)
        self.number_of = self.block_of + first_block  # in the grid
        self.indices: dict[tuple, object] = {}  # threadIdx.x and the like
        self.events: list[Event] = []
        self.since_barrier: list[Event] = []
        self.shared: dict[tuple, Memory] = {}  # by the place that makes it, shape and dtype

    def note(self, event: Event) -> None:
        """Write an event down."""
        self.events.append(event)
        if event.memory is not None and event.memory.region is not None:
            self.since_barrier.append(event)

    def pass_barrier(self, comes: np.ndarray) -> None:
        """Look for races before a barrier to which these threads [places] come."""
        before = self.since_barrier
        self.since_barrier = []
        if not comes.all():
            self.since_barrier = [event.part(~comes) for event in before]
            before = [event.part(comes) for event in before]
        for accesses in _grouped([event for event in before if len(event.places)], _region_of):
            _region_of(accesses[0]).check_threads(accesses, self.place + 1)

    def end(self, span: int) -> int:
        """Look for races before the end, and between blocks.

        Returns how many sectors the warps moved of global memory, which has `span`, not counting atomics.
        """
        self.pass_barrier(np.ones(len(self.place), bool))
        in_global = [event for event in self.events if event.memory and event.memory.space == GLOBAL]
        for accesses in _grouped(in_global, _region_of):
            _region_of(accesses[0]).check_blocks(accesses, self.number_of + 1)
        moving = [event for event in in_global if event.kind != ATOMIC]
        by_place = _grouped(moving, lambda event: (event.site, event.kind))
        return sum(self._sectors_of(events, span) for events in by_place)

    def _sectors_of(self, events: list[Event], span: int) -> int:
        """Sectors of the accesses at one place of the program, each once for a request of a warp."""
        warps_per_block = -(-self.size // WARP)
        warp = self.block_of * warps_per_block + self.local_of // WARP
        turns = np.zeros(len(self.place), np.int64)
        keys = []
        for event in events:
            memory = event.memory
            places = event.places
            sector = (event.cells + memory.first) * memory.data.itemsize // SECTOR + memory.region.base
            request = warp[places] + turns[places] * (self.blocks * warps_per_block)
            keys.append(request * span + sector)
            turns[places] += 1
        key = np.concatenate(keys)
        steps = np.diff(key)
        if (steps < 0).any():
            key.sort()
            steps = np.diff(key)
        return 1 + int(np.count_nonzero(steps))


def _region_of(event: Event) -> Region:
    return event.memory.region


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
        if data.dtype.kind not in "fiub" or not data.flags.c_contiguous:
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
            cell = cell + self.copy_of[threads] * self.size
        return cell if isinstance(cell, np.ndarray) else np.broadcast_to(np.int64(cell), len(threads))

    def load(self, cells: np.ndarray) -> object:
        """The elements."""
        self.check_written(cells)
        if cells.strides == (0,):
            return as_register(self.flat[cells[0]])
        return Varying(self.flat[cells], kind_of(self.dtype))

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
        if self.written is not None and not self.written[cells].all():
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
    if type(index) is not Varying:
        if isinstance(index, bool) or not isinstance(index, int | np.integer) or not -size <= index < size:
            raise Fallback("an index that is not an integer, or beyond its array")
        return int(index) % size
    if index.kind not in INTEGERS or not index.lies_within(-size, size - 1):
        raise Fallback("an index that is not an integer, or may lie beyond its array")
    places = index.data.astype(np.int64, copy=False)
    return places if index.lies_within(0, size - 1) else np.where(places < 0, places + size, places)
