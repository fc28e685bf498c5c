"""Threads, warps and blocks of a grid while it runs, and `machine`, which holds the thread that runs now.

Below them the functions that give a kernel its indices, and findings: the faults that end a launch, described
by the kernel's own lines and names.
"""

import functools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from inspect import isgeneratorfunction
from sys import _getframe
from types import FrameType

from pocketgpu.quantities import quantity
from pocketgpu.simulator.trace import SITES, TURN, WARP, Trace, Triple, label_of, site_of

KINDS = (
    "out_of_bounds",
    "misaligned",
    "uninitialised",
    "barrier_divergence",
    "deadlock",
    "race",
    "missing_fence",
    "weak_poll",  # a loop waits by a load that the compiler may take out
    "whole_array",  # work on many elements in one word, which is neither counted nor watched
    "undefined_lane",  # a value from a lane that took no part
    "limit",  # more than a GPU has: shared memory
    "endless",  # stopped, because it ran too long or wrote down too much
    "does_not_compile",
    "float64",
)


@dataclass(frozen=True)
class Finding:
    """One fault; line, block and thread say where, the other three with whom."""

    kind: str  # of KINDS
    message: str
    line: int | None = None
    block: Triple | None = None
    thread: Triple | None = None
    other_line: int | None = None
    other_block: Triple | None = None
    other_thread: Triple | None = None
    events: tuple[int, ...] = field(
        default=(), compare=False, repr=False
    )  # its accesses: places in the trace

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')}: {self.message}"


class Findings(RuntimeError):
    """A launch that a GPU may get wrong; `findings` says why.  What the kernel wrote is in its arrays."""

    def __init__(self, kernel: str, findings: tuple[Finding, ...]):
        self.findings = findings
        super().__init__("\n".join([f"{kernel}: {len(findings)} finding(s)", *map(str, findings)]))


@dataclass(slots=True, eq=False)
class Dim3:
    """x, y, z of an index or a size."""

    x: int
    y: int
    z: int

    def __iter__(self) -> Iterator[int]:
        return iter((self.x, self.y, self.z))

    def __repr__(self) -> str:
        return f"({self.x}, {self.y}, {self.z})"


def place_in(size: Dim3, number: int) -> Dim3:
    """Index of the number-th block of a grid, or thread of a block, of that size."""
    row, x = divmod(number, size.x)
    z, y = divmod(row, size.y)
    return Dim3(x, y, z)


class Thread:
    """One CUDA thread: where it stands in the grid, and what it waits for."""

    __slots__ = (
        "again", "answer", "block", "generator", "index", "lane", "mark", "new_values", "number", "seen",
        "site", "warp", "what", "x",
    )  # fmt: skip

    def __init__(self, block: "Block", local: int):
        self.block = block
        self.index = block.places[local]
        self.number = block.first + local  # in the grid, block after block
        self.warp = block.warps[local // WARP]
        self.lane = local % WARP
        self.x = block.index.x * block.size.x + self.index.x
        self.mark = TURN + self.number
        self.generator = None  # it runs until it waits
        self.answer = None  # mask that activemask() returns to it
        self.site = self.what = None  # where it waits, and for which call
        self.seen = {}  # (site, element that it polled) -> the last value there
        self.new_values = 0  # polls that read another value than the one before
        self.again = {}  # the same as seen -> how often it was polled since any poll read a new value

    def wait_at(self, site: int, what: str) -> None:
        """Note that it waits there from now on, in the call `what`."""
        self.site = site
        self.what = what


class Warp:
    """Lanes that have not returned, and the collectives and activemask() calls at which some of them wait."""

    __slots__ = ("collectives", "gathering", "lanes")

    def __init__(self, lanes: int):
        self.lanes = (1 << lanes) - 1
        self.collectives = {}
        self.gathering = {}


class Block:
    """One block: its threads, its shared memory, and the threads that wait at its barrier."""

    def __init__(self, number: int, grid: Dim3, size: Dim3, places: list[Dim3]):
        self.number = number
        self.grid = grid
        self.size = size
        self.places = places
        self.index = place_in(grid, number)
        self.threads = len(places)
        self.first = number * self.threads
        self.alive = self.threads
        self.waiting = []
        self.shared = {}
        self.shared_bytes = 0
        self.votes = []
        self.opened = 0  # how often its barrier has opened
        self.warps = [Warp(min(WARP, self.threads - first)) for first in range(0, self.threads, WARP)]

    def fresh(self, shuffle: random.Random | None) -> Iterator[Thread]:
        """Its threads, made when they start, in order of their number or shuffled."""
        order = range(self.threads)
        if shuffle:
            order = shuffle.sample(order, self.threads)
        for local in order:
            yield Thread(self, local)


class LaunchStopped(Exception):
    """A fault after which the launch cannot continue."""

    def __init__(self, finding: Finding):
        self.finding = finding
        super().__init__(str(finding))


class Machine:
    """What runs at this moment: one thread of one launch; its trace, if the launch is watched."""

    __slots__ = ("host", "launch", "now", "part", "ticks", "trace", "turns")

    def __init__(self):
        self.launch = self.now = None
        self.host = 0  # the thread of Python that launches
        self.trace: Trace | None = None
        self.ticks = 0  # rounds of loops until the clock is looked at (endless.py)
        self.turns = 0  # how often a thread continued, but behind barriers of a block
        self.part: tuple[int, ...] = ()  # shape of the last part of an array that a kernel made

    def go_on(self, thread: Thread) -> None:
        """Make this the thread that runs now."""
        self.now = thread
        self.turns += 1
        if self.trace is not None:
            self.trace.append(thread.mark)


machine = Machine()

INSIDE: dict[int, Callable] = {}  # by id of a word: what a kernel calls, with the site of the call first


def word(inside: Callable) -> Callable:
    """A word of kernels, of a function that also takes the site of its call.

    A generator function waits where it yields: the number of a site at the block's barrier, None where it has
    noted itself what the thread waits for.  Code that was not rewritten cannot wait.
    """

    @functools.wraps(inside)
    def called(*arguments, **options):
        result = inside(site_of(_getframe(1)), *arguments, **options)
        if not isgeneratorfunction(inside):
            return result
        try:
            next(result)
        except StopIteration as done:
            return done.value
        raise cannot_wait(inside.__name__, _getframe(1).f_code.co_name, _getframe(1).f_lineno)

    del called.__wrapped__  # or the site would seem to be an argument
    INSIDE[id(called)] = inside
    return called


def users_frame() -> FrameType:
    """The innermost frame that is neither NumPy's nor the simulator's."""
    frame = _getframe(1)
    while frame.f_globals.get("__name__", "").startswith(("numpy.", "pocketgpu.simulator")):
        frame = frame.f_back
    return frame


def cannot_wait(what: str, function: str, line: int) -> Exception:
    """The error of a function that waits, and whose text is unknown."""
    return RuntimeError(
        f"{function} waits on line {line} ({what}), and its text cannot be found; write it into a file or a "
        "cell; a program that makes the text compiles it under a file name for which linecache has its lines"
    )


warpsize = WARP
LANE = object()  # what a program imports as laneid, which is another number in each thread


class _Index:
    """An index of the thread that runs, or a size of its launch; looked up whenever x, y or z is read."""

    def __init__(self, find):
        self._find = find

    x = property(lambda self: self._find().x)
    y = property(lambda self: self._find().y)
    z = property(lambda self: self._find().z)

    def __iter__(self):
        return iter(self._find())

    def __repr__(self) -> str:
        return repr(self._find())


threadIdx = _Index(lambda: machine.now.index)
blockIdx = _Index(lambda: machine.now.block.index)
blockDim = _Index(lambda: machine.launch.blockDim)
gridDim = _Index(lambda: machine.launch.gridDim)


def grid(dimensions: int) -> int | tuple[int, ...]:
    """The thread's index in the whole grid; a tuple for 2 or 3 dimensions."""
    thread = machine.now
    if dimensions == 1:
        return thread.x
    return _first(dimensions, "grid", global_index(thread))


def gridsize(dimensions: int) -> int | tuple[int, ...]:
    """Threads of the whole grid along its first dimensions."""
    grid = machine.launch.gridDim
    block = machine.launch.blockDim
    width = grid.x * block.x
    if dimensions == 1:
        return width
    return _first(dimensions, "gridsize", (width, grid.y * block.y, grid.z * block.z))


def global_index(thread: Thread) -> Triple:
    """The thread's index in the whole grid."""
    block = thread.block.index
    size = thread.block.size
    index = thread.index
    return block.x * size.x + index.x, block.y * size.y + index.y, block.z * size.z + index.z


def _first(dimensions: int, name: str, values: Triple) -> tuple[int, ...]:
    if dimensions not in (1, 2, 3):
        raise ValueError(f"{name}({dimensions}): a grid has 1, 2 or 3 dimensions")
    return values[:dimensions]


def name_of(thread: Thread) -> str:
    """Name of a thread in messages: plain numbers where the block or the grid has one dimension."""
    return thread_name(thread.block.index, thread.index, thread.block.grid, thread.block.size)


def thread_name(block: tuple, thread: tuple, grid: tuple, size: tuple) -> str:
    """Name of a thread in messages, from indices [3] and sizes [3] of block and grid."""
    return f"thread {_index_name(thread, size)} of block {_index_name(block, grid)}"


def _index_name(index: tuple, size: tuple) -> int | tuple:
    """The index as messages have it: a number if the size has one dimension."""
    x, *_ = index
    is_line = tuple(size)[1:] == (1, 1)
    return x if is_line else tuple(index)


def finding(
    kind: str, message: str, thread: Thread, line: int | None = None, other: Thread | None = None
) -> Finding:
    """A fault of a thread at that line, or where it waits; other: the thread with which it has the fault."""
    beside = (_line(other), tuple(other.block.index), tuple(other.index)) if other else ()
    if line is None and thread.site is not None:
        line = _line(thread)
    block = tuple(thread.block.index)
    return Finding(kind, message, line, block, tuple(thread.index), *beside)


def remark(kind: str, message: str, line: int) -> None:
    """Note a finding that does not end the launch; one for each kind and line."""
    thread = machine.now
    if machine.trace is not None and thread is not None:
        noted = finding(kind, f"{name_of(thread)} {message}", thread, line)
        machine.trace.remarks.setdefault((kind, line), noted)


def fault(kind: str, message: str, line: int) -> LaunchStopped:
    """A fault of the running thread that ends the launch."""
    return LaunchStopped(finding(kind, message, machine.now, line))


def outside_mask(name: str, mask: int, line: int) -> LaunchStopped:
    """A lane calls a function of the warp with a mask that does not name it."""
    thread = machine.now
    message = (
        f"{name_of(thread)} is lane {thread.lane} and calls {name} on line {line} with mask {mask:#x}, which "
        "does not name that lane: on a GPU the result is undefined; name all lanes that call it"
    )
    return fault("undefined_lane", message, line)


def ended_before_barrier(waiting: list[Thread]) -> LaunchStopped:
    """All that is left of a block waits at a barrier that the others, who have returned, never reached."""
    first = waiting[0]
    threads = first.block.threads
    ended = threads - len(waiting)
    message = (
        f"{name_of(first)} waits at syncthreads() on line {_line(first)}, but {ended} of the block's "
        f"{threads} threads returned earlier and will never come: let every thread reach the barrier; put "
        "the condition around the work"
    )
    return LaunchStopped(finding("barrier_divergence", message, first))


def ended_before_grid_barrier(waiting: list[Thread], ended: int) -> LaunchStopped:
    """Threads wait at the grid's barrier for others that have returned."""
    first = waiting[0]
    message = (
        f"{name_of(first)}{_count_others(waiting)} at this_grid().sync() on line {_line(first)}, but "
        f"{quantity(ended, 'thread')} of the grid returned earlier and will never come: every thread of "
        "every block must reach it"
    )
    return LaunchStopped(finding("barrier_divergence", message, first))


def different_barriers(first: Thread, other: Thread) -> LaunchStopped:
    """Two threads of a block wait at two barriers."""
    message = (
        f"{name_of(first)} waits at syncthreads() on line {_line(first)} while {name_of(other)} waits at "
        f"another one on line {_line(other)}: all threads of a block must come to the same barrier"
    )
    return LaunchStopped(finding("barrier_divergence", message, first, other=other))


def deadlock(waiting: list[Thread], not_started: str = "") -> LaunchStopped:
    """Deadlock: at each line the first thread, how many wait with it and what they poll; and the remedy."""
    places = {}
    for thread in waiting:
        places.setdefault((_line(thread), thread.what), []).append(thread)
    has_poll = False
    descriptions = []
    for (line, what), threads in places.items():
        first = threads[0]
        polled = _polled_element(first)
        has_poll = has_poll or bool(polled)
        descriptions.append(f"{name_of(first)}{_count_others(threads)} at {what} on line {line}{polled}")
    if not_started:
        remedy = not_started
    elif has_poll:
        remedy = (
            "; a loop may wait only for what another thread, which does not wait itself, will write, and for "
            "a value that stays until all have seen it"
        )
    else:
        remedy = "; all threads of a block, and all lanes of a mask, must come to the same call"
    listed = "; ".join(descriptions)
    return LaunchStopped(finding("deadlock", f"no thread can continue: {listed}{remedy}", waiting[0]))


def _polled_element(thread: Thread) -> str:
    """The element that a spinning thread polls, and its value, as a part of a sentence."""
    if machine.trace is None:
        return ""
    for (site, where), value in reversed(thread.seen.items()):
        if site != thread.site or where is None:
            continue
        number, index = where
        name = "the element"
        for proxy in machine.trace.arrays[1:]:
            if id(proxy) == number:
                name = label_of(proxy.root.label) or proxy.space
                break
        if isinstance(index, tuple):
            index = ", ".join(map(str, index))
        return f", where {name}[{index}] stays {value}"
    return ""


def spinning(thread: Thread, line: int, waits: bool) -> Finding:
    """A thread reads memory in a loop and never yields; waits: the loop waits for another thread's write."""
    again = f"{name_of(thread)} reads the same memory again and again on line {line}"
    if not waits:
        remedy = "let its body change what its condition tests"
        return finding("endless", f"{again}: the loop never stops; {remedy}", thread, line)
    message = f"{again}, and no other thread can run; {remedy_of_weak_poll()}"
    return finding("deadlock", message, thread, line)


def remedy_of_weak_poll(array: str = "a", index: str = "i") -> str:
    """What to do about a loop that waits for that element by a load."""
    return (
        "a loop that waits reads with an atomic, because a GPU's compiler may remove one that polls by a "
        f"load: poll with cuda.atomic.add({array}, {index}, 0)"
    )


def _line(thread: Thread) -> int:
    return SITES[thread.site].line


def _count_others(threads: list[Thread]) -> str:
    return f" and {len(threads) - 1} more" if len(threads) > 1 else ""
