"""Faults that end a launch, put into words: who, where, and what to do about it."""

from types import FrameType

from rnnlab.simulator.findings import Finding
from rnnlab.simulator.places import line_of
from rnnlab.simulator.threads import Stopped, Thread


def name_of(thread: Thread) -> str:
    """How messages call a thread: by plain numbers where there is one dimension."""
    thread_index, block_index = (
        index.x if index.y == index.z == 0 else index for index in (thread.index, thread.block.index)
    )
    return f"thread {thread_index} of block {block_index}"


def out_of_bounds(thread: Thread, frame: FrameType, access: str) -> Stopped:
    """A thread touches what is not there; access says what it did."""
    line = frame.f_lineno
    message = f"{name_of(thread)} {access} on line {line}: a thread beyond the end must do nothing"
    return Stopped(Finding("out_of_bounds", message, line, tuple(thread.block.index), tuple(thread.index)))


def too_much_shared(thread: Thread, asked: int, limit: int) -> Stopped:
    """A block wants more shared memory than the device gives it; bytes."""
    message = f"a block asks for {asked} bytes of shared memory, and the device gives {limit}"
    where = tuple(thread.block.index), tuple(thread.index)
    return Stopped(Finding("out_of_bounds", message, None, *where))


def ended_before_barrier(waiting: list[Thread]) -> Stopped:
    """All that is left of a block waits at a barrier that the others, who have returned, never reached."""
    first = waiting[0]
    message = (
        f"{name_of(first)} waits at syncthreads() on line {_line(first)}, but "
        f"{first.block.threads - len(waiting)} of the block's {first.block.threads} threads have returned "
        "and will never come: let every thread reach the barrier; put the condition around the work"
    )
    return Stopped(_finding("barrier_divergence", message, first))


def different_barriers(first: Thread, other: Thread) -> Stopped:
    """Two threads of a block wait at two barriers."""
    message = (
        f"{name_of(first)} waits at syncthreads() on line {_line(first)} while {name_of(other)} waits at "
        f"another one on line {_line(other)}: all threads of a block must come to the same barrier"
    )
    return Stopped(_finding("barrier_divergence", message, first, other))


def deadlock(waiting: list[Thread], not_started: str = "") -> Stopped:
    """Nobody can go on: told by the first thread at each place, and how many are with it."""
    places = {}
    for thread in waiting:
        places.setdefault((_line(thread), thread.what), []).append(thread)
    told = [
        f"{name_of(threads[0])}{_and_more(threads)} at {what} on line {line}"
        for (line, what), threads in places.items()
    ]
    return Stopped(_finding("deadlock", f"nobody can go on: {'; '.join(told)}{not_started}", waiting[0]))


def spinning(thread: Thread, line: int) -> Finding:
    """A thread waits in a loop that reads memory and never gives way."""
    message = (
        f"{name_of(thread)} reads the same memory again and again on line {line}, and nobody else can run: a "
        "GPU may even read it only once; wait with cuda.ldcv, an atomic or a fence in the loop"
    )
    return Finding("deadlock", message, line, tuple(thread.block.index), tuple(thread.index))


def _line(thread: Thread) -> int:
    return line_of(thread.frame.f_code, thread.frame.f_lasti)


def _finding(kind: str, message: str, thread: Thread, other: Thread | None = None) -> Finding:
    beside = (_line(other), tuple(other.block.index), tuple(other.index)) if other else ()
    return Finding(kind, message, _line(thread), tuple(thread.block.index), tuple(thread.index), *beside)


def _and_more(threads: list[Thread]) -> str:
    return f" and {len(threads) - 1} more" if len(threads) > 1 else ""
