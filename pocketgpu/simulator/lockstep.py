"""A second engine: a launch whose threads run in lockstep, as vectors of NumPy.

A thread that a generator runs costs microseconds for each statement; here a statement runs once for all
threads of many blocks (Triton's interpreter and Intel's ISPC compiler have the idea, too).  What a launch
does wrong is not looked for, only whether there may be anything: each access proves that it lies within its
array and reads what was written, each stretch between two barriers that no two threads touch one cell of
which one writes.  Wherever the proof fails, or the text holds something that is not understood, Fallback is
raised, the arrays get their old contents, and the launch runs again thread by thread (scheduler.py), whose
findings are the only ones.

Read: lockstep_values (numbers of many threads), lockstep_memory (arrays), lockstep_events (the proof),
lockstep_threads (branches and loops), lockstep_functions (those of numba.cuda), lockstep_execution
(statements and expressions).
"""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from pocketgpu.simulator.counts import SECTOR
from pocketgpu.simulator.lockstep_events import Chunk, Event, Region
from pocketgpu.simulator.lockstep_execution import Execution
from pocketgpu.simulator.lockstep_memory import Memory
from pocketgpu.simulator.lockstep_values import Fallback
from pocketgpu.simulator.memory import Watched, watched
from pocketgpu.simulator.settings import Limits, SimulatorSettings
from pocketgpu.simulator.threads import machine
from pocketgpu.simulator.trace import (
    EVENT,
    GLOBAL,
    KINDS,
    SHARED,
    SITES,
    TURN,
    Columns,
    Trace,
    Triple,
    address_of,
    together_in,
)
from pocketgpu.simulator.translation import look

FEWEST_THREADS = 256  # of a launch: fewer are as fast one after another
FIRST_CHUNK = 1 << 12  # threads, which show how many accesses a thread makes
LARGEST_CHUNK = 1 << 18  # threads, whose numbers fit into a cache
MOST_ACCESSES = 1 << 23  # of a chunk


def check_choice(now: SimulatorSettings, threads: int, options: dict) -> None:
    """Raise Fallback for a launch whose threads have to run one after another, or may as well."""
    reasons = {
        "cuda.settings(lockstep=False)": not now.lockstep,
        "threads run in random order": now.shuffle,
        "debug=True": options.get("debug"),
        f"fewer than {FEWEST_THREADS} threads": threads < FEWEST_THREADS,
    }
    for reason, holds in reasons.items():
        if holds:
            raise Fallback(reason)


class Run(Trace):
    """A launch in lockstep, and the record of what it did."""

    def __init__(
        self, grid: Triple, block: Triple, limits: Limits, trace: Trace | None, now: SimulatorSettings
    ):
        super().__init__()
        self.arrays = trace.arrays if trace else [None]
        self.grid = grid
        self.block = block
        self.limits = limits
        self.now = now
        self.look = functools.cache(look)
        self.kept: list[Chunk] = []  # of which a report can be made
        self.memories: list[tuple[Watched, Memory]] = []
        self.span = 1  # sectors of global memory
        self.stores = 0  # or other events that change something
        self.accesses = 0
        self.sectors = 0  # that warps moved

    def start(self, function: Callable, values: Sequence, keep: bool) -> "Run":
        """Run the kernel; raises Fallback, with the arrays as they were, for the other engine to run it.

        keep: raise it, too, for a launch with more accesses than can be kept for a report.
        """
        arguments = [self._argument(value) for value in values]
        self._place_memories()
        arrays = [memory.flat for _, memory in self.memories if memory.flat.flags.writeable]
        before = [array.copy() for array in arrays]
        outside = machine.launch, machine.now
        try:
            with np.errstate(all="ignore"):
                self._run_chunks(function, arguments, keep)
        except Exception as error:  # whatever it is, the other engine reports it itself
            for array, data in zip(arrays, before, strict=True):
                array[:] = data
            reason = str(error) if isinstance(error, Fallback) else f"{type(error).__name__}: {error}"
            raise Fallback(reason) from error
        finally:
            machine.launch, machine.now = outside
        return self

    def _run_chunks(self, function: Callable, arguments: list, keep: bool) -> None:
        threads = math.prod(self.block)
        blocks = math.prod(self.grid)
        first = 0
        size = max(1, FIRST_CHUNK // threads)
        while first < blocks:
            chunk = Chunk(self.grid, self.block, first, min(size, blocks - first))
            machine.launch, machine.now = chunk, chunk.threads  # whose indices the kernel's functions return
            Execution(self, chunk, function, chunk.place, []).call(arguments)
            chunk.end()
            self.sectors += chunk.sectors(self.span)
            accesses = sum(len(event.places) for event in chunk.events if event.memory)
            self.accesses += accesses
            self.kept.append(chunk)
            if self.accesses > self.now.events:
                self.kept.clear()
                if keep:
                    raise Fallback(f"more than {self.now.events:,} accesses")
            first += size
            size = max(1, min(LARGEST_CHUNK // threads, MOST_ACCESSES * chunk.blocks // (accesses + 1)))

    # ------------------------------------------------------------------ arguments

    def _argument(self, value: object) -> object:
        """An argument as threads in lockstep see it."""
        if isinstance(value, tuple):
            return tuple([self._argument(member) for member in value])
        if isinstance(value, np.ndarray):
            value = watched(value, GLOBAL, self)
        if not isinstance(value, Watched):
            return value
        written = None
        if value.written is not True:
            written = np.array(np.broadcast_to(value.written, value.data.shape)).reshape(-1)
        memory = Memory(np.asarray(value.data), GLOBAL, written)
        memory.number = value.number
        self.memories.append((value, memory))
        return memory

    def _place_memories(self) -> None:
        """Give arrays that overlap one region, in which races are looked for."""
        extents = together_in([None, *(proxy for proxy, _ in self.memories)])
        regions: dict[int, Region] = {}  # by first address
        for proxy, memory in self.memories:
            low, high = extents[id(proxy)]
            itemsize = memory.flat.itemsize
            cells = -(-(high - low) // itemsize)
            memory.region = regions.setdefault(low, Region(cells, self.span))
            self.span += -(-(high - low) // SECTOR) + 1
            memory.first, rest = divmod(address_of(memory.data) - low, itemsize)
            if rest or len(memory.region.done) != cells:
                raise Fallback("arrays of different types in the same memory")

    # ------------------------------------------------------------------ report

    def columns(self) -> Columns:
        """The events as columns, in the order in which they happened."""
        if self.accesses > self.now.events:
            raise RuntimeError(
                f"the launch made {self.accesses:,} accesses, of which {self.now.events:,} are kept: let "
                "cuda.settings(events=…) be larger"
            )
        self.chunks += [self._entries(chunk, event) for chunk in self.kept for event in chunk.events]
        self.kept.clear()
        return super().columns()

    def _entries(self, chunk: Chunk, event: Event) -> np.ndarray:
        """An event of many threads, as a trace has it of one after another."""
        thread = TURN + event.places + chunk.first_thread
        columns = [thread, EVENT + KINDS * event.site + event.kind, *event.detail]
        if memory := event.memory:
            copies = memory.data if memory.space == SHARED else memory.data[None]
            if not memory.number:
                proxies = [watched(copy, memory.space, self, False, SITES[memory.site]) for copy in copies]
                memory.number = proxies[0].number
            copy, *indices = np.unravel_index(event.cells.astype(np.intp, copy=False), copies.shape)
            columns += [memory.number + copy, *indices]
        return np.stack(np.broadcast_arrays(*columns), 1).ravel()
