"""What a launch in lockstep did: the sectors that it moved and, for a report, the columns [n] of a trace."""

import math
from collections.abc import Iterator

import numpy as np

from pocketgpu.simulator.counts import SECTOR
from pocketgpu.simulator.grouping import turn_in_group
from pocketgpu.simulator.lockstep_lanes import Lanes, Local
from pocketgpu.simulator.lockstep_memory import Event, Memory
from pocketgpu.simulator.memory import watched
from pocketgpu.simulator.trace import ATOMIC, BARRIER, GLOBAL, LOADS, SITES, WARP, Columns, sites_of

Size = tuple[int, int, int]


class Chunk:
    """Blocks that run together, and what each of their threads [places] belongs to."""

    def __init__(self, grid: Size, block: Size, first_block: int, blocks: int, span: int):
        self.grid = grid
        self.block = block
        self.first_block = first_block
        self.blocks = blocks
        self.threads_per_block = threads_per_block = math.prod(block)
        self.span = span  # sectors of all global memory of the launch
        self.width = blocks * threads_per_block
        self.first_thread = first_block * threads_per_block
        self.place = np.arange(self.width, dtype=np.int64)
        self.block_of, self.local_of = np.divmod(self.place, threads_per_block)
        warps_per_block = -(-threads_per_block // WARP)
        self.warps = blocks * warps_per_block
        self.warp_of = self.block_of * warps_per_block + self.local_of // WARP
        self.everyone = Lanes(self.place)
        self.events: list[Event] = []
        self.accesses = 0
        self.indices: dict[tuple, Local] = {}  # threadIdx.x and the like
        self.shared: dict[tuple, Memory] = {}  # by the place that makes it, shape and dtype
        self.local_sizes: dict[int, int] = {}  # bytes by place

    def note(self, event: Event) -> None:
        """Write an event down."""
        self.events.append(event)
        if event.cells is not None:
            self.accesses += len(event.cells)

    def sectors(self) -> int:
        """Sectors of global memory that the warps moved, without those of atomics."""
        by_site: dict[tuple[int, bool], list[Event]] = {}
        for event in self.events:
            if event.memory is not None:
                by_site.setdefault((event.site, event.kind in LOADS), []).append(event)
        return sum(map(self._sectors_of, by_site.values()))

    def _sectors_of(self, events: list[Event]) -> int:
        """Sectors of the accesses at one place of the program, each once for a request."""
        keys = []
        for event, turn in zip(events, self._turns(events), strict=True):
            memory = event.memory
            if event.kind != ATOMIC and memory.space == GLOBAL:
                sector = (event.cells + memory.first) * memory.data.itemsize // SECTOR + memory.region.base
                request = self.warp_of[event.lanes.places] + turn * self.warps
                keys.append(request * self.span + sector)
        if not keys:
            return 0
        key = np.concatenate(keys)
        steps = np.diff(key)
        if steps.min(initial=0) < 0:
            key.sort()
            steps = np.diff(key)
        return 1 + int(np.count_nonzero(steps))

    def _turns(self, events: list[Event]) -> Iterator[np.ndarray | int]:
        """For each event how often its threads were at this place before."""
        pairs = zip(events[1:], events, strict=False)
        if all(event.lanes.is_within(before.lanes) for event, before in pairs):
            yield from range(len(events))
            return
        turn = np.zeros(self.width, np.int64)
        for event in events:
            yield turn[event.lanes.places]
            turn[event.lanes.places] += 1


class Record:
    """The events of a launch in lockstep, in place of a trace.Trace."""

    def __init__(self, arrays: list, most: int):
        self.arrays = arrays
        self.remarks = {}
        self.chunks: list[Chunk] | None = []  # None where the events are too many to keep
        self.most = most
        self.accesses = 0
        self.sectors = 0

    def add(self, chunk: Chunk) -> None:
        """Count a chunk that has run, and keep its events if they are not too many."""
        self.sectors += chunk.sectors()
        self.accesses += chunk.accesses
        if self.accesses > self.most:
            self.chunks = None
        elif self.chunks is not None:
            self.chunks.append(chunk)

    def number(self, array: object) -> int:
        """A number for this array."""
        self.arrays.append(array)
        return len(self.arrays) - 1

    def columns(self) -> Columns:
        """The events as columns, in the order in which they happened."""
        if self.chunks is None:
            raise RuntimeError(
                f"the launch made {self.accesses:,} accesses, of which {self.most:,} are kept: let "
                "cuda.settings(events=…) be larger"
            )
        parts = [self._part(chunk, event) for chunk in self.chunks for event in chunk.events]
        columns = [np.concatenate([np.zeros(0, np.int64), *column]) for column in zip(*parts, strict=True)]
        kind, thread, array, site, offset, detail = columns or np.zeros((6, 0), np.int64)
        arrived = np.flatnonzero(kind == BARRIER)
        detail[arrived] = turn_in_group(thread[arrived])
        events = np.arange(len(kind))
        ended = np.unique(thread)
        ends = np.stack([np.full(len(ended), len(kind)), ended], 1)
        sites, site = sites_of(site)
        whole = np.zeros(0, np.int64)
        turns = np.stack([events, thread], 1)
        return Columns(kind, thread, array, site, offset, detail, whole, turns, ends, self.arrays, sites)

    def _part(self, chunk: Chunk, event: Event) -> tuple[np.ndarray, ...]:
        """The columns of one event."""
        places = event.lanes.places
        array = offset = np.zeros(len(places), np.int64)
        if event.memory is not None:
            array, cells = self._place(event)
            offset = cells * event.memory.data.itemsize
        same = (np.full(len(places), value, np.int64) for value in (event.kind, event.site, event.detail))
        kind, site, detail = same
        return kind, places + chunk.first_thread, array, site, offset, detail

    def _place(self, event: Event) -> tuple[np.ndarray, np.ndarray]:
        """[n] The array's number in the trace, and its cells: a block has a shared array of its own."""
        memory = event.memory
        cells = event.cells
        if not memory.number:
            copies = memory.data if memory.is_shared else [memory.data]
            shells = [watched(copy, memory.space, self, False, SITES[memory.site]) for copy in copies]
            memory.number = shells[0].number
        if not memory.is_shared:
            return np.full(len(cells), memory.number), cells
        copy, cells = np.divmod(cells, memory.size)
        return memory.number + copy, cells
