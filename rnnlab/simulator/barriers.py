"""Barriers of a block and of the grid, and what goes wrong at them."""

import sys

from rnnlab.simulator.events import BARRIER, BLOCK, DEVICE, FENCE, GRID_SYNC, SYSTEM
from rnnlab.simulator.findings import Finding
from rnnlab.simulator.threads import Block, Launch, Stopped, Thread, machine


def syncthreads() -> None:
    """All threads of the block meet; what any of them wrote before, all can read after."""
    _meet(sys._getframe(1))


def syncthreads_count(predicate: object) -> int:
    """How many threads of the block say yes."""
    return sum(_vote(predicate, sys._getframe(1)))


def syncthreads_and(predicate: object) -> int:
    return int(all(_vote(predicate, sys._getframe(1))))


def syncthreads_or(predicate: object) -> int:
    return int(any(_vote(predicate, sys._getframe(1))))


def threadfence_block() -> None:
    _fence(BLOCK, sys._getframe(1))


def threadfence() -> None:
    _fence(DEVICE, sys._getframe(1))


def threadfence_system() -> None:
    _fence(SYSTEM, sys._getframe(1))


class GridGroup:
    """All threads of the grid, as cooperative groups name them."""

    def sync(self) -> None:
        thread, launch, frame = machine.now, machine.launch, sys._getframe(1)
        _note(GRID_SYNC, frame, launch.grid_opened)
        thread.at = frame.f_code, frame.f_lasti, "this_grid().sync()"
        launch.at_grid_barrier.append(thread)
        if not open_grid_if_complete(launch, thread):
            launch.wait()


class cg:
    """The words of numba.cuda.cg."""

    @staticmethod
    def this_grid() -> GridGroup:
        return GridGroup()


def _meet(frame) -> None:
    thread = machine.now
    block = thread.block
    if machine.trace is not None:
        machine.trace.note(BARRIER, block.opened, frame)
    thread.at = frame.f_code, frame.f_lasti, "syncthreads()"
    block.waiting.append(thread)
    if len(block.waiting) == block.threads:
        _open(block, thread)
    else:
        if len(block.waiting) == block.alive:
            ended_before_barrier(machine.launch, block)
        machine.launch.wait()


def _open(block: Block, last: Thread) -> None:
    """All are here: the last one goes on, the others become ready."""
    waiting, block.waiting = block.waiting, []
    places = {thread.at[:2] for thread in waiting}
    if len(places) > 1:
        raise Stopped(_divergence(waiting))
    block.opened += 1
    block.launch.wake([thread for thread in waiting if thread is not last])


def ended_before_barrier(launch: Launch, block: Block) -> None:
    """Raises Stopped if all that is left of a block waits at a barrier that ended threads never reached."""
    if 0 < len(block.waiting) == block.alive < block.threads:
        thread = block.waiting[0]
        gone = block.threads - block.alive
        message = (
            f"{_who(thread)} waits at syncthreads() on line {line_of(thread.at)}, but {gone} of the block's "
            f"{block.threads} threads have returned and will never come: let every thread reach the barrier, "
            "and put the condition around the work instead"
        )
        raise Stopped(_finding("barrier_divergence", message, thread))


def open_grid_if_complete(launch: Launch, last: Thread | None = None) -> bool:
    """Open the grid's barrier if every thread of every block stands at it."""
    alive = sum(block.alive for block in launch.open.values())
    if launch.next_block < launch.blocks or len(launch.at_grid_barrier) < alive:
        return False
    waiting, launch.at_grid_barrier = launch.at_grid_barrier, []
    launch.grid_opened += 1
    launch.wake([thread for thread in waiting if thread is not last])
    return True


def who_waits(launch: Launch) -> Finding:
    """The deadlock, told by its first waiting thread and a word on all others."""
    at_barrier = [thread for block in launch.open.values() for thread in block.waiting]
    in_warps = [
        t for b in launch.open.values() for w in b.warps for m in w.meetings.values() for t in m.arrived
    ]
    waiting = at_barrier + launch.at_grid_barrier + in_warps + list(launch.spinning)
    places = {}
    for thread in waiting:
        places.setdefault((line_of(thread.at), thread.at[2]), []).append(thread)
    told = [
        f"{_who(threads[0])}{_and_more(threads)} at {what} on line {line}"
        for (line, what), threads in places.items()
    ]
    message = "nobody can go on: " + "; ".join(told)
    if launch.next_block < launch.blocks:
        message += (
            f"; block {launch.next_block} has not started: the device holds {launch.resident} of the "
            f"{launch.blocks} blocks at once, so launch no more than that if blocks wait for one another"
        )
    return _finding("deadlock", message, waiting[0])


def line_of(place: tuple) -> int:
    """The source line of (code, instruction, …)."""
    code, instruction = place[0], place[1]
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return line
    return code.co_firstlineno


def _vote(predicate: object, frame) -> list[bool]:
    block = machine.now.block
    block.votes = block.votes if block.waiting else []
    votes = block.votes
    votes.append(bool(predicate))
    _meet(frame)
    return votes


def _fence(scope: str, frame) -> None:
    _note(FENCE, frame, scope)


def _note(kind: int, frame, detail: object) -> None:
    if machine.trace is not None:
        machine.trace.note(kind, detail, frame)


def _divergence(waiting: list[Thread]) -> Finding:
    first = waiting[0]
    other = next(thread for thread in waiting if thread.at[:2] != first.at[:2])
    message = (
        f"{_who(first)} waits at syncthreads() on line {line_of(first.at)} while {_who(other)} waits at "
        f"another one on line {line_of(other.at)}: a barrier in a branch must be reached by all threads of the block"
    )
    return Finding(
        "barrier_divergence",
        message,
        line_of(first.at),
        tuple(first.block.index),
        tuple(first.index),
        line_of(other.at),
        tuple(other.block.index),
        tuple(other.index),
    )


def _finding(kind: str, message: str, thread: Thread) -> Finding:
    return Finding(kind, message, line_of(thread.at), tuple(thread.block.index), tuple(thread.index))


def _who(thread: Thread) -> str:
    index = thread.index
    name = index.x if (index.y, index.z) == (0, 0) else index
    block = thread.block.index
    return f"thread {name} of block {block.x if (block.y, block.z) == (0, 0) else block}"


def _and_more(threads: list[Thread]) -> str:
    return f" and {len(threads) - 1} more" if len(threads) > 1 else ""
