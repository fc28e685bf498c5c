"""Waiting and atomics: barriers of a block and of the grid, fences, and collectives of a warp.

The lanes that a mask names take part in a collective; when the last of them arrives, each takes its result
from the values of all.  Lanes that the block does not have, or that have returned, are not waited for.

An atomic reads, changes and writes without interruption, because no other thread runs meanwhile.  A thread
that polls again and again yields now and then, so that the thread it waits for can run.
"""

from collections.abc import Callable
from sys import _getframe
from types import FrameType

import numpy as np

from rnnlab.simulator.arithmetic import Undefined, as_register, wrapped
from rnnlab.simulator.memory import Watched, beyond
from rnnlab.simulator.scheduler import expected_lanes
from rnnlab.simulator.threads import (
    Block,
    different_barriers,
    ended_before_barrier,
    machine,
    outside_mask,
)
from rnnlab.simulator.trace import (
    ATOMIC,
    BARRIER,
    BLOCK,
    DEVICE,
    EXCHANGE,
    FENCE,
    GRID_SYNC,
    LOAD,
    PAST_FIRST_LEVEL,
    STORE,
    SYSTEM,
    VOLATILE_LOAD,
    VOLATILE_STORE,
    WARP,
    WARP_SYNC,
)


def syncthreads() -> None:
    """Barrier of the block: what any thread wrote before, all can read after."""
    _arrive(_getframe(1))


def syncthreads_count(predicate: object) -> int:
    """Number of threads of the block whose predicate is true."""
    return sum(_vote(predicate, _getframe(1)))


def syncthreads_and(predicate: object) -> int:
    """1 if the predicate is true in all threads of the block, 0 otherwise."""
    return int(all(_vote(predicate, _getframe(1))))


def syncthreads_or(predicate: object) -> int:
    """1 if the predicate is true in any thread of the block, 0 otherwise."""
    return int(any(_vote(predicate, _getframe(1))))


def threadfence_block() -> None:
    """The block sees this thread's earlier writes before its later ones."""
    _fence(BLOCK, _getframe(1))


def threadfence() -> None:
    """The grid sees this thread's earlier writes before its later ones."""
    _fence(DEVICE, _getframe(1))


def threadfence_system() -> None:
    """The grid and the host see this thread's earlier writes before its later ones."""
    _fence(SYSTEM, _getframe(1))


class GridGroup:
    """All threads of the grid, as cooperative groups name them."""

    def sync(self) -> None:
        """Barrier of all threads of all blocks."""
        thread, launch, frame = machine.now, machine.launch, _getframe(1)
        if machine.trace is not None:
            machine.trace.note(GRID_SYNC, launch.grid_opened, frame)
        thread.wait_at(frame, "this_grid().sync()")
        launch.at_grid_barrier.append(thread)
        if not launch.open_grid_barrier(thread):
            launch.wait()


class cg:
    """The words of numba.cuda.cg."""

    @staticmethod
    def this_grid() -> GridGroup:
        return GridGroup()


def _arrive(frame: FrameType) -> None:
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
    """Open the block's barrier when all have arrived: the last thread goes on, the others become ready."""
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
    _arrive(frame)
    return votes


def _fence(scope: str, frame: FrameType) -> None:
    if machine.trace is not None:
        machine.trace.note(FENCE, scope, frame)
    thread = machine.now  # at the same fence again without a new value or barrier: it waits in a loop
    machine.launch.poll(frame, None, (scope, thread.new_values, thread.block.opened), "a fence")


FULL = 0xFFFFFFFF


class Collective:
    """Collective of a warp's lanes that not all have reached: the lanes that have, and their values."""

    __slots__ = ("arrived", "mask", "values")

    def __init__(self, mask: int):
        self.mask, self.arrived, self.values = mask, [], {}


def syncwarp(mask: int = FULL) -> None:
    """Barrier of the mask's lanes: what any wrote before, all can read after."""
    _exchange("syncwarp", mask, None, _getframe(1))


def shfl_sync(mask: int, value: object, src_lane: int, width: int = WARP) -> object:
    """The value of lane src_lane, counted within groups of `width` lanes."""
    frame = _getframe(1)
    values, lane = _exchange("shfl_sync", mask, value, frame)
    return _value_of(values, lane, lane // width * width + int(src_lane) % width, frame)


def shfl_up_sync(mask: int, value: object, delta: int, width: int = WARP) -> object:
    """The value of the lane `delta` before this one; its own where the group has none."""
    frame = _getframe(1)
    values, lane = _exchange("shfl_up_sync", mask, value, frame)
    source = lane - int(delta)
    return _value_of(values, lane, source if source >= lane // width * width else lane, frame)


def shfl_down_sync(mask: int, value: object, delta: int, width: int = WARP) -> object:
    """The value of the lane `delta` after this one; its own where the group has none."""
    frame = _getframe(1)
    values, lane = _exchange("shfl_down_sync", mask, value, frame)
    source = lane + int(delta)
    return _value_of(values, lane, source if source < lane // width * width + width else lane, frame)


def shfl_xor_sync(mask: int, value: object, lane_mask: int, width: int = WARP) -> object:
    """The value of the lane whose number differs from this one's in the bits of lane_mask."""
    frame = _getframe(1)
    values, lane = _exchange("shfl_xor_sync", mask, value, frame)
    source = lane ^ int(lane_mask)
    return _value_of(values, lane, source if source < lane // width * width + width else lane, frame)


def all_sync(mask: int, predicate: object) -> bool:
    return all(_exchange("all_sync", mask, bool(predicate), _getframe(1))[0].values())


def any_sync(mask: int, predicate: object) -> bool:
    return any(_exchange("any_sync", mask, bool(predicate), _getframe(1))[0].values())


def eq_sync(mask: int, predicate: object) -> bool:
    """Do all lanes agree?"""
    return len(set(_exchange("eq_sync", mask, bool(predicate), _getframe(1))[0].values())) == 1


def ballot_sync(mask: int, predicate: object) -> int:
    """A bit for every lane whose predicate is true."""
    votes = _exchange("ballot_sync", mask, bool(predicate), _getframe(1))[0]
    return sum(1 << lane for lane, yes in votes.items() if yes)


def match_any_sync(mask: int, value: object) -> int:
    """A bit for every lane with the same value."""
    values, lane = _exchange("match_any_sync", mask, value, _getframe(1))
    return sum(1 << other for other, theirs in values.items() if theirs == values[lane])


def match_all_sync(mask: int, value: object) -> tuple[int, bool]:
    """(a bit for every lane, True) if all lanes have the same value, (0, False) otherwise."""
    values, lane = _exchange("match_all_sync", mask, value, _getframe(1))
    same = all(theirs == values[lane] for theirs in values.values())
    return (sum(1 << other for other in values), True) if same else (0, False)


def activemask() -> int:
    """A bit for every lane that has come here by the time that no other thread can run."""
    thread, frame = machine.now, _getframe(1)
    thread.wait_at(frame, "activemask()")
    machine.launch.gathering = True
    thread.warp.gathering.setdefault(thread.place, []).append(thread)
    machine.launch.wait()
    return thread.answer


def lanemask_lt() -> int:
    """A bit for every lane before this one."""
    return (1 << machine.now.lane) - 1


def _exchange(name: str, mask: int, value: object, frame: FrameType) -> tuple[dict, int]:
    """Values of all lanes of the mask, once all have arrived; and this thread's lane."""
    thread, mask = machine.now, int(mask) & FULL
    warp = thread.warp
    if not mask >> thread.lane & 1:
        raise outside_mask(name, mask, frame.f_lineno)
    if machine.trace is not None:
        machine.trace.note(WARP_SYNC if name == "syncwarp" else EXCHANGE, mask, frame)
    thread.wait_at(frame, name)
    collective = warp.collectives.setdefault((name, mask), Collective(mask))
    collective.arrived.append(thread)
    collective.values[thread.lane] = value
    if len(collective.arrived) == expected_lanes(mask, warp):
        del warp.collectives[name, mask]
        machine.launch.wake([other for other in collective.arrived if other is not thread])
    else:
        machine.launch.wait()
    return collective.values, thread.lane


def _value_of(values: dict, lane: int, source: int, frame: FrameType) -> object:
    """The value of the source lane; where it took no part, one that must not be used."""
    if source in values:
        return values[source]
    return values[lane] if machine.trace is None else Undefined(source, frame.f_lineno)


def _read(kind: int, array, index, frame: FrameType, verb: str):
    """array[index], noted in the trace as an event of that kind."""
    if not isinstance(array, Watched):
        return as_register(array[index])
    array.recorder.note(array.tag + kind, index, frame)
    try:
        return as_register(array.data[index])
    except (IndexError, OverflowError):
        raise beyond(array, index, frame, verb) from None


def _write(array, index, value) -> None:
    data = array.data if isinstance(array, Watched) else array
    try:
        data[index] = value
    except OverflowError:
        data[index] = wrapped(value, data.dtype)


def _atomic(change: Callable):
    """cuda.atomic.<name>(array, index, *values): array[index] becomes change(old, *values); returns old."""

    def operation(array, index, *values):
        frame = _getframe(1)
        old = _read(ATOMIC, array, index, frame, "changes")
        _write(array, index, change(old, *values))
        machine.launch.poll(frame, (id(array), index), old, "an atomic")
        return old

    return staticmethod(operation)


def _plain(old):
    return old.item() if old.dtype.kind in "iu" else old


class atomic:
    """The words of numba.cuda.atomic."""

    add = _atomic(lambda old, value: _plain(old) + value)
    sub = _atomic(lambda old, value: _plain(old) - value)
    and_ = _atomic(lambda old, value: _plain(old) & value)
    or_ = _atomic(lambda old, value: _plain(old) | value)
    xor = _atomic(lambda old, value: _plain(old) ^ value)
    inc = _atomic(lambda old, limit: 0 if old >= limit else _plain(old) + 1)
    dec = _atomic(lambda old, limit: limit if old == 0 or old > limit else _plain(old) - 1)
    exch = _atomic(lambda old, value: value)
    max = _atomic(lambda old, value: old if np.isnan(old) or not old < value else value)
    min = _atomic(lambda old, value: old if np.isnan(old) or not old > value else value)
    nanmax = _atomic(lambda old, value: np.fmax(old, value))
    nanmin = _atomic(lambda old, value: np.fmin(old, value))
    cas = _atomic(lambda old, expected, value: value if old == expected else old)

    @staticmethod
    def compare_and_swap(array: Watched | np.ndarray, old: object, value: object) -> object:
        """cas on the first element of an array of any shape."""
        return atomic.cas(array, 0 if array.ndim == 1 else (0,) * array.ndim, old, value)


def _load(kind: int) -> Callable:
    """A load with a cache hint, or one that no compiler moves."""

    def load(array, index):
        frame = _getframe(1)
        value = _read(kind, array, index, frame, "reads")
        if kind in PAST_FIRST_LEVEL:
            machine.launch.poll(frame, (id(array), index), value, "a load")
        return value

    return load


def _store(kind: int) -> Callable:
    def store(array, index, value) -> None:
        frame = _getframe(1)
        _read(kind, array, index, frame, "writes")
        _write(array, index, value)

    return store


ldca, ldcs, ldlu = (_load(LOAD) for _ in range(3))
ldcg, ldcv = (_load(VOLATILE_LOAD) for _ in range(2))  # past the first-level cache, which is not coherent
stcs, stwb = (_store(STORE) for _ in range(2))
stcg, stwt = (_store(VOLATILE_STORE) for _ in range(2))


def nanosleep(nanoseconds: int) -> None:
    """Let all other threads run first."""
    machine.launch.spin(_getframe(1), "nanosleep()")
