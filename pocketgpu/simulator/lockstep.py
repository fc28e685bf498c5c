"""A second engine: a launch whose threads run in lockstep, as vectors of NumPy.

A thread that a generator runs costs microseconds for each statement; here a statement runs once for all
threads of many blocks (Triton's interpreter and Intel's ISPC compiler have the idea, too).  What a launch
does wrong is not looked for, only whether there may be anything: each access proves that it lies within its
array and reads what was written, each stretch between two barriers that no two threads touch one cell of
which one writes.  Wherever the proof fails, or the text holds something that is not understood, Fallback is
raised, the arrays get their old contents, and the launch runs again thread by thread (scheduler.py), whose
findings are the only ones.

Read: lockstep_values (numbers of many threads), lockstep_lanes (which threads run), lockstep_memory (arrays
and the proof), lockstep_words (the words of numba.cuda), lockstep_execution (statements and expressions).
"""

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from pocketgpu.simulator.counts import SECTOR
from pocketgpu.simulator.lockstep_execution import Execution
from pocketgpu.simulator.lockstep_memory import Memory, Region
from pocketgpu.simulator.lockstep_record import Chunk, Record, Size
from pocketgpu.simulator.lockstep_values import Fallback
from pocketgpu.simulator.memory import Watched, watched
from pocketgpu.simulator.settings import Limits, SimulatorSettings
from pocketgpu.simulator.trace import GLOBAL, Trace, address_of, together_in
from pocketgpu.simulator.translation import look

FEWEST_THREADS = 256  # of a launch: fewer are as fast one after another
PATIENCE = 10  # a part of the time that one thread may run
FIRST_CHUNK = 1 << 12  # threads, which show how many accesses a thread makes
LARGEST_CHUNK = 1 << 16  # threads, whose numbers fit into a cache
MOST_ACCESSES = 1 << 23  # of a chunk


def check_choice(now: SimulatorSettings, threads: int, options: dict) -> None:
    """Raise Fallback for a launch whose threads have to run one after another, or may as well."""
    if not now.lockstep:
        raise Fallback("cuda.settings(lockstep=False)")
    if now.shuffle:
        raise Fallback("threads run in random order")
    if options.get("debug"):
        raise Fallback("debug=True")
    if threads < FEWEST_THREADS:
        raise Fallback(f"fewer than {FEWEST_THREADS} threads")


def run_in_lockstep(
    function: Callable,
    values: Sequence,
    grid: Size,
    block: Size,
    limits: Limits,
    trace: Trace | None,
    now: SimulatorSettings,
    keep: bool,
) -> Record:
    """Run the kernel; raises Fallback, with the arrays as they were, for the other engine to run it.

    keep: raise it, too, for a launch with more accesses than can be kept for a report.
    """
    run = Run(grid, block, limits, trace, now, keep)
    try:
        with np.errstate(all="ignore"):
            return run.all_blocks(function, values)
    except Exception as error:  # whatever it is, the other engine says it in its own words
        run.restore()
        if isinstance(error, Fallback):
            raise
        raise Fallback(f"{type(error).__name__}: {error}") from error


class Run:
    """A launch in lockstep: what its chunks of blocks have in common."""

    def __init__(
        self, grid: Size, block: Size, limits: Limits, trace: Trace | None, now: SimulatorSettings, keep: bool
    ):
        self.grid = grid
        self.block = block
        self.limits = limits
        self.now = now
        self.keep = keep
        self.record = Record(trace.arrays if trace else [None], now.events)
        self.regions: list[Region] = []
        self.span = 1
        self.sites: dict[int, int] = {}  # by id of a node of the text
        self.known: dict[tuple, object] = {}  # what names from outside stand for
        self.old: dict[int, tuple[Memory, np.ndarray]] = {}  # by id: an array and what was in it before
        self.stores = 0
        self.latest = 0.0

    def all_blocks(self, function: Callable, values: Sequence) -> Record:
        """Run chunk after chunk."""
        arguments = self._arguments(values)
        threads = math.prod(self.block)
        blocks = math.prod(self.grid)
        first = 0
        size = max(1, FIRST_CHUNK // threads)
        while first < blocks:
            chunk = Chunk(self.grid, self.block, first, min(size, blocks - first), self.span)
            self.extend_time()
            Execution(self, chunk, function, chunk.everyone).call(arguments)
            for region in self.regions_of(chunk):
                region.pass_barrier(chunk.place)
                region.end_chunk(chunk.block_of, first)
            self.record.add(chunk)
            if self.keep and self.record.chunks is None:
                raise Fallback(f"more than {self.now.events:,} accesses")
            first += chunk.blocks
            of_block = max(1, chunk.accesses // chunk.blocks)
            size = max(1, min(LARGEST_CHUNK // threads, MOST_ACCESSES // of_block))
        return self.record

    def restore(self) -> None:
        """Give the arrays their old contents, the one that was written last first: some may overlap."""
        for memory, data in reversed(self.old.values()):
            memory.flat[:] = data

    def look(self, function: Callable, path: tuple[str, ...]) -> object:
        """What a name from outside of a function stands for."""
        key = id(function), path
        if key not in self.known:
            self.known[key] = look(function, path)
        return self.known[key]

    def extend_time(self) -> None:
        """Let a loop that no thread leaves run on for a while."""
        self.latest = time.process_time() + self.now.seconds / PATIENCE

    def prepare_store(self, memory: Memory) -> None:
        """Keep what a global array holds before its first store."""
        self.stores += 1
        if memory.space == GLOBAL and id(memory) not in self.old:
            self.old[id(memory)] = memory, memory.flat.copy()

    def regions_of(self, chunk: Chunk) -> list[Region]:
        """Where threads of the chunk may race."""
        return self.regions + [memory.region for memory in chunk.shared.values()]

    # ------------------------------------------------------------------ arguments

    def _arguments(self, values: Sequence) -> list:
        """The arguments as threads in lockstep see them."""
        shells: list[Watched] = []
        memories: list[Memory] = []
        arguments = [self._argument(value, shells, memories) for value in values]
        extents = together_in([None, *shells])
        regions: dict[int, Region] = {}  # by first address
        for shell, memory in zip(shells, memories, strict=True):
            low, high = extents[id(shell)]
            itemsize = memory.data.itemsize
            if low not in regions:
                regions[low] = Region(-(-(high - low) // itemsize), itemsize, self.span)
                self.span += -(-(high - low) // SECTOR) + 1
            memory.region = regions[low]
            memory.first, rest = divmod(address_of(memory.data) - low, itemsize)
            if rest or memory.region.itemsize != itemsize:
                raise Fallback("arrays of different types in the same memory")
        self.regions = [*regions.values()]
        return arguments

    def _argument(self, value: object, shells: list[Watched], memories: list[Memory]) -> object:
        if isinstance(value, tuple):
            whole = tuple(self._argument(member, shells, memories) for member in value)
            return type(value)(*whole) if hasattr(value, "_fields") else whole
        if isinstance(value, np.ndarray):
            value = watched(value, GLOBAL, self.record)
        if not isinstance(value, Watched):
            return value
        if type(value) is not Watched or value.data.dtype.kind not in "fiub":
            raise Fallback(f"an array of {value.data.dtype}")
        written = None
        if value.written is not True:
            written = np.array(np.broadcast_to(value.written, value.data.shape)).reshape(-1)
            if not value.data.flags.c_contiguous:
                raise Fallback("an array in which some elements were written")
        memory = Memory(np.asarray(value.data), GLOBAL, value.number, None, written)
        shells.append(value)
        memories.append(memory)
        return memory
