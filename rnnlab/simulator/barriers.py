"""Barriers of a block and of the grid, and fences: `cuda.syncthreads` and its kin."""

from sys import _getframe
from types import FrameType

from rnnlab.simulator.events import BARRIER, BLOCK, DEVICE, FENCE, GRID_SYNC, SYSTEM
from rnnlab.simulator.faults import different_barriers, ended_before_barrier
from rnnlab.simulator.threads import Block, machine


def syncthreads() -> None:
    """All threads of the block meet; what any of them wrote before, all can read after."""
    _meet(_getframe(1))


def syncthreads_count(predicate: object) -> int:
    """How many threads of the block say yes."""
    return sum(_vote(predicate, _getframe(1)))


def syncthreads_and(predicate: object) -> int:
    """1 if all threads of the block say yes, 0 otherwise."""
    return int(all(_vote(predicate, _getframe(1))))


def syncthreads_or(predicate: object) -> int:
    """1 if any thread of the block says yes, 0 otherwise."""
    return int(any(_vote(predicate, _getframe(1))))


def threadfence_block() -> None:
    """The block sees this thread's earlier writes before its later ones."""
    _fence(BLOCK, _getframe(1))


def threadfence() -> None:
    """The grid sees this thread's earlier writes before its later ones."""
    _fence(DEVICE, _getframe(1))


def threadfence_system() -> None:
    """So does the host."""
    _fence(SYSTEM, _getframe(1))


class GridGroup:
    """All threads of the grid, as cooperative groups name them."""

    def sync(self) -> None:
        """All threads of all blocks meet."""
        thread, launch, frame = machine.now, machine.launch, _getframe(1)
        if machine.trace is not None:
            machine.trace.note(GRID_SYNC, launch.grid_opened, frame)
        thread.stands(frame, "this_grid().sync()")
        launch.at_grid_barrier.append(thread)
        if not launch.open_grid_barrier(thread):
            launch.wait()


class cg:
    """The words of numba.cuda.cg."""

    @staticmethod
    def this_grid() -> GridGroup:
        return GridGroup()


def check_left_early(block: Block) -> None:
    """Raises Stopped if all that is left of a block waits at a barrier that ended threads never reached."""
    if 0 < len(block.waiting) == block.alive < block.threads:
        raise ended_before_barrier(block.waiting)


def _meet(frame: FrameType) -> None:
    thread = machine.now
    block = thread.block
    if machine.trace is not None:
        machine.trace.note(BARRIER, block.opened, frame)
    thread.frame, thread.what = frame, "syncthreads()"
    waiting = block.waiting
    waiting.append(thread)
    if len(waiting) == block.threads:
        _open(block)
    else:
        if len(waiting) == block.alive:
            raise ended_before_barrier(waiting)
        machine.launch.wait()


def _open(block: Block) -> None:
    """All are here: the last one goes on, the others become ready."""
    waiting, block.waiting = block.waiting, []
    first = waiting[0]
    position = first.frame.f_lasti
    for thread in waiting:
        if thread.frame.f_lasti != position and thread.place != first.place:
            raise different_barriers(first, thread)
    block.opened += 1
    waiting.pop()
    machine.launch.wake(waiting)


def _vote(predicate: object, frame: FrameType) -> list[bool]:
    block = machine.now.block
    block.votes = block.votes if block.waiting else []
    votes = block.votes
    votes.append(bool(predicate))
    _meet(frame)
    return votes


def _fence(scope: str, frame: FrameType) -> None:
    if machine.trace is not None:
        machine.trace.note(FENCE, scope, frame)
    machine.launch.look(frame, None, scope, "a fence")
