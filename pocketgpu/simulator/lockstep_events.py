"""What the threads of a chunk did: the proof that none of them race, and the sectors that they moved.

An access is the cells [n] of n threads.  A race needs a cell that two threads touch between two barriers, and
that one of them writes: so for each cell it is enough to know one thread that touched it, and whether another
one did.  Between blocks nothing is ordered, so there one block is known for each cell as long as a chunk
runs, and what any block of earlier chunks did to it.
"""

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator.counts import SECTOR
from pocketgpu.simulator.grouping import contested
from pocketgpu.simulator.lockstep_memory import Memory
from pocketgpu.simulator.lockstep_values import Fallback, Varying
from pocketgpu.simulator.threads import Dim3, place_in
from pocketgpu.simulator.trace import ATOMIC, GLOBAL, LOADS, STORE, WARP, Triple

WRITTEN, PLAIN = 1, 2  # bits of a cell: by a store or an atomic; by an access that is not an atomic


class Event(NamedTuple):
    """Accesses of several threads at one place of the program, or their arrival at a barrier or a shuffle."""

    kind: int
    site: int
    places: np.ndarray  # [n] of the threads in their chunk, ascending
    memory: Memory | None = None
    cells: np.ndarray | None = None  # [n] of the memory
    detail: tuple = ()

    @property
    def bits(self) -> int:
        """What an access does to its cells."""
        return WRITTEN * (self.kind not in LOADS) | PLAIN * (self.kind != ATOMIC)

    @property
    def cells_of_region(self) -> np.ndarray:
        """[n] The cells, counted from the first one of the region."""
        return self.cells + self.memory.first

    def part(self, chosen: np.ndarray) -> "Event":
        """The accesses of the chosen threads [places]."""
        mask = chosen[self.places]
        return self._replace(places=self.places[mask], cells=self.cells[mask])


class Region:
    """Memory in which races are looked for: a global array and those that overlap it, or a shared one."""

    def __init__(self, cells: int, base: int = 0):
        self.base = base  # sectors of global memory before it
        self.done = np.zeros(cells, np.uint8)  # what earlier chunks did to each cell

    def check(self, accesses: Sequence[Event], owner_of: np.ndarray) -> None:
        """Raise Fallback if accesses of several owners, which are numbers [places], may race."""
        if all(access.kind in LOADS for access in accesses):
            return
        key = np.concatenate([access.cells_of_region for access in accesses])
        key -= key.min()
        size = int(key.max()) + 1
        is_touched = np.zeros(size, bool)
        is_touched[key] = True
        if np.count_nonzero(is_touched) == len(key):
            return
        owner = np.concatenate([owner_of.take(access.places) for access in accesses])
        lengths = [len(access.places) for access in accesses]
        bits = np.repeat([access.bits for access in accesses], lengths)
        if contested(key, size, owner, bits & WRITTEN > 0, bits & PLAIN > 0).any():
            raise Fallback("threads may race")

    def end_chunk(self, accesses: Sequence[Event]) -> None:
        """Raise Fallback if blocks of the chunk may race with those of earlier ones."""
        for access in accesses:
            before = self.done.take(access.cells_of_region)
            if ((before != 0) & (before | access.bits == WRITTEN | PLAIN)).any():
                raise Fallback("threads may race")
        for access in accesses:
            self.done[access.cells_of_region] |= access.bits


def _by_region(events: Sequence[Event]) -> dict[Region, list[Event]]:
    """Accesses to each region, as one those of the same threads to the same cells: y[i] += x[i] has two."""
    regions: dict[Region, dict[tuple, Event]] = {}
    for event in events:
        if event.memory and event.memory.region and len(event.places):
            accesses = regions.setdefault(event.memory.region, {})
            key = id(event.places), id(event.cells), id(event.memory)
            same = accesses.setdefault(key, event)
            if same.kind != event.kind:
                accesses[key] = event._replace(kind=STORE)
    return {region: [*accesses.values()] for region, accesses in regions.items()}


class Chunk:
    """Blocks that run together, what each of their threads [places] belongs to, and what they did."""

    def __init__(self, grid: Triple, block: Triple, first_block: int, blocks: int):
        self.blocks = blocks
        self.size = math.prod(block)
        self.first_thread = first_block * self.size
        self.place = np.arange(blocks * self.size, dtype=np.int64)
        number = np.arange(blocks, dtype=np.int64)
        self.block_of = np.repeat(number, self.size)
        local = self.place[: self.size]
        warps_per_block = -(-self.size // WARP)
        self.warps = blocks * warps_per_block
        self.warp_of = np.add.outer(number * warps_per_block, local // WARP).reshape(-1)
        self.gridDim = Dim3(*grid)
        self.blockDim = size = Dim3(*block)
        index = place_in(size, local)
        of_block = SimpleNamespace(index=place_in(self.gridDim, first_block + number[:, None]), size=size)
        x = of_block.index.x * size.x + index.x
        self.threads = SimpleNamespace(index=index, block=of_block, lane=local % WARP, x=x)
        self.indices: dict[tuple, object] = {}  # see find
        self.latest = self.place, self.place, self.place  # threads, others, and where they stand among those
        self.ranked = self.place  # threads, and the number of each among them
        self.rank = self.place.copy()
        self.events: list[Event] = []
        self.since_barrier: list[Event] = []
        self.shared: dict[tuple, Memory] = {}  # by the place that makes it, shape and dtype

    # ------------------------------------------------------------------ threads

    def find(self, function: Callable, *arguments: object) -> object:
        """What a function of the running thread returns in all threads: an index, or several."""
        key = function, *arguments
        if key not in self.indices:
            self.indices[key] = self._spread(function(*arguments))
        return self.indices[key]

    def _spread(self, index: object) -> object:
        if isinstance(index, tuple):
            return tuple(map(self._spread, index))
        if isinstance(index, int):
            return index
        return Varying(np.broadcast_to(index, (self.blocks, self.size)).reshape(-1), int)

    def chosen(self, places: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """[m] Those of the threads [n] for which the mask [n] holds."""
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

    # ------------------------------------------------------------------ events

    def note(self, event: Event) -> None:
        """Write an event down."""
        self.events.append(event)
        self.since_barrier.append(event)

    def pass_barrier(self, comes: np.ndarray) -> None:
        """Look for races before a barrier to which these threads [places] come."""
        before = self.since_barrier
        self.since_barrier = []
        if not comes.all():
            accesses = [event for event in before if event.memory]
            self.since_barrier = [event.part(~comes) for event in accesses]
            before = [event.part(comes) for event in accesses]
        for region, accesses in _by_region(before).items():
            region.check(accesses, self.place)

    def end(self) -> None:
        """Look for races before the end, and between blocks."""
        has_barriers = len(self.since_barrier) < len(self.events)
        self.pass_barrier(np.ones(len(self.place), bool))
        for region, accesses in _by_region(self._in_global()).items():
            if has_barriers:  # else no two threads race
                region.check(accesses, self.block_of)
            region.end_chunk(accesses)

    def _in_global(self) -> list[Event]:
        return [event for event in self.events if event.memory and event.memory.space == GLOBAL]

    def sectors(self, span: int) -> int:
        """Sectors that the warps moved of global memory, which has `span`, not counting atomics."""
        at_place: dict[tuple[int, int], list[Event]] = {}
        for event in self._in_global():
            if event.kind != ATOMIC:
                at_place.setdefault((event.site, event.kind), []).append(event)
        return sum(self._sectors_of(events, span) for events in at_place.values())

    def _sectors_of(self, events: list[Event], span: int) -> int:
        """Sectors of the accesses at one place of the program, each once for a request of a warp."""
        keys = []
        turns = np.zeros(len(self.place), np.int64)
        for event in events:
            request = self.warp_of.take(event.places)
            if len(events) > 1:
                request += turns.take(event.places)
                turns[event.places] += self.warps
            sector = event.cells_of_region * event.memory.flat.itemsize // SECTOR
            keys.append(request * span + sector + event.memory.region.base)
        key = np.concatenate(keys)
        if (key[1:] < key[:-1]).any():
            key.sort()
        return 1 + np.count_nonzero(key[1:] != key[:-1])
