"""Waiting: barriers of a block and of the grid, fences, and what the lanes of a warp do together.

The lanes that a mask names come together; when the last of them arrives, each takes its answer from what all
brought.  Lanes that the block does not have, or that have returned, are not waited for.
"""

from sys import _getframe
from types import FrameType

from rnnlab.simulator.threads import (
    Block,
    Warp,
    different_barriers,
    ended_before_barrier,
    ended_before_grid_barrier,
    machine,
    outside_mask,
    remark,
)
from rnnlab.simulator.trace import BARRIER, BLOCK, DEVICE, FENCE, GRID_SYNC, SYSTEM, WARP, WARP_SYNC


def syncthreads() -> None:
    """Barrier of the block: what any thread wrote before, all can read after."""
    _arrive(_getframe(1))


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
        """Barrier of all threads of all blocks."""
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


def check_grid_barrier(launch: object) -> None:
    """Raises Stopped if all that is left of the grid waits at a barrier that ended threads never reached."""
    waiting = launch.at_grid_barrier
    if 0 < len(waiting) == launch.alive < launch.threads:
        raise ended_before_grid_barrier(waiting, launch.threads - launch.alive)


def check_left_early(block: Block) -> None:
    """Raises Stopped if all that is left of a block waits at a barrier that ended threads never reached."""
    if 0 < len(block.waiting) == block.alive < block.threads:
        raise ended_before_barrier(block.waiting)


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
    _arrive(frame)
    return votes


def _fence(scope: str, frame: FrameType) -> None:
    if machine.trace is not None:
        machine.trace.note(FENCE, scope, frame)
    thread = machine.now  # a second time through the same fence, and nothing happened: it waits in a loop
    machine.launch.look(frame, None, (scope, thread.news, thread.block.opened), "a fence")


FULL = 0xFFFFFFFF


class Meeting:
    """Lanes that have come, and what they brought."""

    __slots__ = ("arrived", "brought", "mask")

    def __init__(self, mask: int):
        self.mask, self.arrived, self.brought = mask, [], {}


def syncwarp(mask: int = FULL) -> None:
    """Barrier of the mask's lanes: what any wrote before, all can read after."""
    _exchange("syncwarp", mask, None, _getframe(1))


def shfl_sync(mask: int, value: object, src_lane: int, width: int = WARP) -> object:
    """The value of lane src_lane, counted within groups of `width` lanes."""
    frame = _getframe(1)
    brought, lane = _exchange("shfl_sync", mask, value, frame)
    return _value_of(brought, lane, lane // width * width + int(src_lane) % width, frame)


def shfl_up_sync(mask: int, value: object, delta: int, width: int = WARP) -> object:
    """The value of the lane `delta` before this one; its own where the group has none."""
    frame = _getframe(1)
    brought, lane = _exchange("shfl_up_sync", mask, value, frame)
    source = lane - int(delta)
    return _value_of(brought, lane, source if source >= lane // width * width else lane, frame)


def shfl_down_sync(mask: int, value: object, delta: int, width: int = WARP) -> object:
    """The value of the lane `delta` after this one; its own where the group has none."""
    frame = _getframe(1)
    brought, lane = _exchange("shfl_down_sync", mask, value, frame)
    source = lane + int(delta)
    return _value_of(brought, lane, source if source < lane // width * width + width else lane, frame)


def shfl_xor_sync(mask: int, value: object, lane_mask: int, width: int = WARP) -> object:
    """The value of the lane whose number differs from this one's in the bits of lane_mask."""
    frame = _getframe(1)
    brought, lane = _exchange("shfl_xor_sync", mask, value, frame)
    source = lane ^ int(lane_mask)
    return _value_of(brought, lane, source if source < lane // width * width + width else lane, frame)


def all_sync(mask: int, predicate: object) -> bool:
    return all(_exchange("all_sync", mask, bool(predicate), _getframe(1))[0].values())


def any_sync(mask: int, predicate: object) -> bool:
    return any(_exchange("any_sync", mask, bool(predicate), _getframe(1))[0].values())


def eq_sync(mask: int, predicate: object) -> bool:
    """Do all lanes agree?"""
    return len(set(_exchange("eq_sync", mask, bool(predicate), _getframe(1))[0].values())) == 1


def ballot_sync(mask: int, predicate: object) -> int:
    """A bit for every lane that says yes."""
    votes = _exchange("ballot_sync", mask, bool(predicate), _getframe(1))[0]
    return sum(1 << lane for lane, yes in votes.items() if yes)


def match_any_sync(mask: int, value: object) -> int:
    """A bit for every lane that brought the same value."""
    brought, lane = _exchange("match_any_sync", mask, value, _getframe(1))
    return sum(1 << other for other, theirs in brought.items() if theirs == brought[lane])


def match_all_sync(mask: int, value: object) -> tuple[int, bool]:
    """(a bit for every lane, True) if all brought the same value, (0, False) otherwise."""
    brought, lane = _exchange("match_all_sync", mask, value, _getframe(1))
    same = all(value == brought[lane] for value in brought.values())
    return (sum(1 << other for other in brought), True) if same else (0, False)


def activemask() -> int:
    """A bit for every lane that has come here while nobody else could go on."""
    thread, frame = machine.now, _getframe(1)
    thread.stands(frame, "activemask()")
    machine.launch.gathering = True
    thread.warp.gathering.setdefault(thread.place, []).append(thread)
    machine.launch.wait()
    return thread.answer


def lanemask_lt() -> int:
    """A bit for every lane before this one."""
    return (1 << machine.now.lane) - 1


def release_converged_lanes(launch: object) -> bool:
    """Lanes that came to the same activemask() while nobody else could move are together there."""
    if not launch.gathering:
        return False
    launch.gathering = False
    gathered = [warp for block in launch.open.values() for warp in block.warps if warp.gathering]
    for warp in gathered:
        for threads in warp.gathering.values():
            mask = sum(1 << thread.lane for thread in threads)
            for thread in threads:
                thread.answer = mask
            launch.wake(threads)
        warp.gathering = {}
    return bool(gathered)


def release_waiting_lanes(launch: object, warp: Warp) -> None:
    """A lane has ended: barriers that waited only for it can end too."""
    for key, meeting in list(warp.meetings.items()):
        if len(meeting.arrived) == _expected(meeting.mask, warp):
            del warp.meetings[key]
            launch.wake(meeting.arrived)


def _exchange(name: str, mask: int, value: object, frame: FrameType) -> tuple[dict, int]:
    """Everything the lanes of the mask brought, once all are here; and this thread's lane."""
    thread, mask = machine.now, int(mask) & FULL
    warp = thread.warp
    if not mask >> thread.lane & 1:
        raise outside_mask(thread, name, mask, frame.f_lineno)
    if machine.trace is not None:
        machine.trace.note(WARP_SYNC, mask, frame)
    thread.stands(frame, name)
    meeting = warp.meetings.setdefault((name, mask), Meeting(mask))
    meeting.arrived.append(thread)
    meeting.brought[thread.lane] = value
    if len(meeting.arrived) == _expected(mask, warp):
        del warp.meetings[name, mask]
        machine.launch.wake([other for other in meeting.arrived if other is not thread])
    else:
        machine.launch.wait()
    return meeting.brought, thread.lane


def _expected(mask: int, warp: Warp) -> int:
    return (mask & warp.lanes).bit_count()


def _value_of(brought: dict, lane: int, source: int, frame: FrameType) -> object:
    """The value of the source lane; where it took no part, one that must not be used."""
    if source in brought:
        return brought[source]
    return brought[lane] if machine.trace is None else Undefined(source, frame.f_lineno)


class Undefined:
    """The value of a lane that took no part: a GPU may give anything.  It is a fault where it is used.

    Half of a warp that adds up its values asks lanes beyond its mask, too, and drops what it gets.  So the
    value spreads through arithmetic, and becomes a finding where it is stored or made a number.
    """

    __array_ufunc__ = None  # NumPy's numbers leave arithmetic with it to this class

    def __init__(self, lane: int, line: int):
        self.lane, self.line = lane, line

    def _spread(self, *others: object) -> "Undefined":
        return self

    def _compare(self, *others: object) -> bool:
        return True  # max and min then choose this value

    def _use(self, *others: object) -> None:
        remark(
            "undefined_lane",
            f"uses what it took from lane {self.lane} on line {self.line}, but that lane is not there: it is "
            "outside the mask or the block, or has returned; let all lanes of the mask take part, and use "
            "only their values",
            self.line,
        )

    def __float__(self) -> float:
        self._use()
        return float("nan")

    def __int__(self) -> int:
        self._use()
        return -1

    __index__ = __int__


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
):
    setattr(Undefined, f"__{_name}__", Undefined._spread)
    setattr(Undefined, f"__r{_name}__", Undefined._spread)
for _name in ("neg", "abs", "invert"):
    setattr(Undefined, f"__{_name}__", Undefined._spread)
for _name in ("lt", "le", "gt", "ge"):
    setattr(Undefined, f"__{_name}__", Undefined._compare)
