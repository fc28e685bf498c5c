"""Waiting and atomics: barriers of a block and of the grid, fences, and collectives of a warp.

The lanes that a mask names take part in a collective; when the last of them arrives, each takes its result
from the values of all.  Lanes that the block does not have, or that have returned, are not waited for.

An atomic reads, changes and writes without interruption, because no other thread runs meanwhile.  A thread
that polls again and again yields now and then, so that the thread it waits for can run.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import GeneratorType

import numpy as np

from pocketgpu.simulator.arithmetic import Conversion, Int32, UInt32, Undefined, as_register, wrapped
from pocketgpu.simulator.memory import Watched, beyond
from pocketgpu.simulator.scheduler import expected_lanes
from pocketgpu.simulator.threads import INSIDE, Thread, machine, outside_mask, word
from pocketgpu.simulator.trace import (
    ATOMIC,
    BARRIER,
    BLOCK,
    DEVICE,
    EVENT,
    EXCHANGE,
    FENCE,
    GRID_SYNC,
    KINDS,
    LOAD,
    PAST_FIRST_LEVEL,
    SITES,
    STORE,
    SYSTEM,
    VOLATILE_LOAD,
    VOLATILE_STORE,
    WARP,
    WARP_SYNC,
)

Waiting = Iterator[int | None]  # a word that waits where it yields: see threads.word


def _note(kind: int, site: int, *detail: int) -> None:
    if machine.trace is not None:
        machine.trace.note((EVENT + KINDS * site + kind, *detail))


@word
def syncthreads(site: int) -> Waiting:
    """Barrier of the block: what any thread wrote before, all can read after."""
    thread = machine.now
    _note(BARRIER, site)
    yield site
    machine.go_on(thread)


def _vote(site: int, predicate: object) -> Waiting:
    """The predicates of all threads of the block, when all have come."""
    thread = machine.now
    votes = thread.block.votes  # the scheduler makes a new list when the barrier opens
    votes.append(bool(predicate))
    yield from INSIDE[id(syncthreads)](site)
    return votes


@word
def syncthreads_count(site: int, predicate: object) -> Waiting:
    """Number of threads of the block whose predicate is true."""
    return sum((yield from _vote(site, predicate)))


@word
def syncthreads_and(site: int, predicate: object) -> Waiting:
    """1 if the predicate is true in all threads of the block, 0 otherwise."""
    return int(all((yield from _vote(site, predicate))))


@word
def syncthreads_or(site: int, predicate: object) -> Waiting:
    """1 if the predicate is true in any thread of the block, 0 otherwise."""
    return int(any((yield from _vote(site, predicate))))


@word
def threadfence_block(site: int) -> Waiting:
    """The block sees this thread's earlier writes before its later ones."""
    yield from _fence(BLOCK, site)


@word
def threadfence(site: int) -> Waiting:
    """The grid sees this thread's earlier writes before its later ones."""
    yield from _fence(DEVICE, site)


@word
def threadfence_system(site: int) -> Waiting:
    """The grid and the host see this thread's earlier writes before its later ones."""
    yield from _fence(SYSTEM, site)


def _fence(scope: int, site: int) -> Waiting:
    _note(FENCE, site, scope)
    thread = machine.now
    seen = scope, thread.new_values, thread.block.opened
    if machine.launch.sees_again(site, None, seen):  # without a new value or barrier: it waits in a loop
        yield from _spin(site, "a fence")


def _spin(site: int, what: str) -> Waiting:
    """Let all others run before this thread polls again."""
    thread = machine.now
    thread.wait_at(site, what)
    machine.launch.spinning.append(thread)
    yield
    machine.go_on(thread)


class GridGroup:
    """All threads of the grid, as cooperative groups name them."""

    @word
    def sync(site: int, self: "GridGroup") -> Waiting:
        """Barrier of all threads of all blocks."""
        thread = machine.now
        launch = machine.launch
        _note(GRID_SYNC, site, launch.grid_opened)
        thread.wait_at(site, "this_grid().sync()")
        launch.at_grid_barrier.append(thread)
        if not launch.open_grid_barrier(thread):
            yield
            machine.go_on(thread)


class cg:
    """The functions of numba.cuda.cg."""

    @staticmethod
    def this_grid() -> GridGroup:
        return GridGroup()


def call(site: int, function: Callable, /, *arguments: object, **options: object) -> Waiting:
    """What function(*arguments) returns, in a function that may wait and calls something it does not know."""
    is_method = hasattr(function, "__func__")
    inside = INSIDE.get(id(function.__func__ if is_method else function))
    if inside is None:
        translated = machine.launch.translation.value(function)
        result = translated(*arguments, **options)
    elif is_method:
        result = inside(site, function.__self__, *arguments, **options)
    else:
        result = inside(site, *arguments, **options)
    if isinstance(result, GeneratorType):
        return (yield from result)
    return result


FULL = 0xFFFFFFFF


@dataclass(slots=True, eq=False)
class Collective:
    """Collective of a warp's lanes that not all have reached: the lanes that have, and their values."""

    mask: int
    arrived: list[Thread] = field(default_factory=list)
    values: dict[int, object] = field(default_factory=dict)


@word
def syncwarp(site: int, mask: int = FULL) -> Waiting:
    """Barrier of the mask's lanes: what any wrote before, all can read after."""
    yield from _exchange("syncwarp", mask, None, site)


@word
def shfl_sync(site: int, mask: int, value: object, src_lane: int, width: int = WARP) -> Waiting:
    """The value of lane src_lane, counted within groups of `width` lanes."""
    values, lane = yield from _exchange("shfl_sync", mask, value, site)
    source = _first_lane(lane, width) + int(src_lane) % width
    return _value_of(values, lane, source, site)


@word
def shfl_up_sync(site: int, mask: int, value: object, delta: int, width: int = WARP) -> Waiting:
    """The value of the lane `delta` before this one; its own where the group has none."""
    values, lane = yield from _exchange("shfl_up_sync", mask, value, site)
    source = lane - int(delta)
    if source < _first_lane(lane, width):
        source = lane
    return _value_of(values, lane, source, site)


@word
def shfl_down_sync(site: int, mask: int, value: object, delta: int, width: int = WARP) -> Waiting:
    """The value of the lane `delta` after this one; its own where the group has none."""
    values, lane = yield from _exchange("shfl_down_sync", mask, value, site)
    source = lane + int(delta)
    if source >= _first_lane(lane, width) + width:
        source = lane
    return _value_of(values, lane, source, site)


@word
def shfl_xor_sync(site: int, mask: int, value: object, lane_mask: int, width: int = WARP) -> Waiting:
    """The value of the lane whose number differs from this one's in the bits of lane_mask."""
    values, lane = yield from _exchange("shfl_xor_sync", mask, value, site)
    source = lane ^ int(lane_mask)
    if source >= _first_lane(lane, width) + width:
        source = lane
    return _value_of(values, lane, source, site)


def _first_lane(lane: int, width: int) -> int:
    """The first lane of the group of `width` lanes to which a lane belongs."""
    return lane // width * width


@word
def all_sync(site: int, mask: int, predicate: object) -> Waiting:
    votes, _ = yield from _exchange("all_sync", mask, bool(predicate), site)
    return all(votes.values())


@word
def any_sync(site: int, mask: int, predicate: object) -> Waiting:
    votes, _ = yield from _exchange("any_sync", mask, bool(predicate), site)
    return any(votes.values())


@word
def eq_sync(site: int, mask: int, predicate: object) -> Waiting:
    """Do all lanes agree?"""
    votes, _ = yield from _exchange("eq_sync", mask, bool(predicate), site)
    return len({*votes.values()}) == 1


@word
def ballot_sync(site: int, mask: int, predicate: object) -> Waiting:
    """A bit for every lane whose predicate is true."""
    votes, _ = yield from _exchange("ballot_sync", mask, bool(predicate), site)
    return _as_mask(lane for lane, yes in votes.items() if yes)


def _as_mask(lanes: Iterable[int]) -> Int32:
    """A bit for each of the lanes, as the int32 that a GPU has: of all lanes, -1."""
    bits = np.uint32(sum(1 << lane for lane in lanes))
    return Int32(bits.astype(np.int32))


@word
def match_any_sync(site: int, mask: int, value: object) -> Waiting:
    """A bit for every lane with the same value."""
    values, lane = yield from _exchange("match_any_sync", mask, value, site)
    own = values[lane]
    return _as_mask(other for other, theirs in values.items() if theirs == own)


@word
def match_all_sync(site: int, mask: int, value: object) -> Waiting:
    """(a bit for every lane, True) if all lanes have the same value, (0, False) otherwise."""
    values, lane = yield from _exchange("match_all_sync", mask, value, site)
    own = values[lane]
    is_same = all(theirs == own for theirs in values.values())
    return _as_mask(values if is_same else ()), is_same


@word
def activemask(site: int) -> Waiting:
    """A bit for every lane that has come here by the time that no other thread can run."""
    thread = machine.now
    thread.wait_at(site, "activemask()")
    machine.launch.gathering = True
    thread.warp.gathering.setdefault(site, []).append(thread)
    yield
    machine.go_on(thread)
    return UInt32(thread.answer)


def lanemask_lt() -> UInt32:
    """A bit for every lane before this one."""
    return UInt32((1 << machine.now.lane) - 1)


def _exchange(name: str, mask: int, value: object, site: int) -> Waiting:
    """Values of all lanes of the mask, once all have arrived; and this thread's lane."""
    thread = machine.now
    mask = int(mask) & FULL
    warp = thread.warp
    if not mask >> thread.lane & 1:
        raise outside_mask(name, mask, SITES[site].line)
    kind = WARP_SYNC if name == "syncwarp" else EXCHANGE
    _note(kind, site, mask)
    thread.wait_at(site, name)
    collective = warp.collectives.setdefault((name, mask), Collective(mask))
    collective.arrived.append(thread)
    collective.values[thread.lane] = value
    if len(collective.arrived) == expected_lanes(mask, warp):
        del warp.collectives[name, mask]
        machine.launch.wake([other for other in collective.arrived if other is not thread])
    else:
        yield
        machine.go_on(thread)
    return collective.values, thread.lane


def _value_of(values: dict, lane: int, source: int, site: int) -> object:
    """The value of the source lane; where it took no part, one that must not be used."""
    if source in values:
        return values[source]
    if machine.trace is None:
        return values[lane]
    return Undefined(source, SITES[site].line)


def _read(kind: int, array, index, site: int, verb: str):
    """array[index], noted in the trace as an event of that kind."""
    if not isinstance(array, Watched):
        return as_register(array[index])
    array.note(kind, index, site)
    try:
        return as_register(array.data[index])
    except (IndexError, OverflowError):
        raise beyond(array, index, SITES[site].line, verb) from None


def _write(array, index, value) -> None:
    data = array.data if isinstance(array, Watched) else array
    try:
        data[index] = value
    except OverflowError:
        data[index] = wrapped(value, data.dtype)


def _atomic(change: Callable):
    """cuda.atomic.<name>(array, index, *values): array[index] becomes change(old, *values); returns old."""

    def operation(site, array, index, *values):
        old = _read(ATOMIC, array, index, site, "changes")
        dtype = array.dtype
        elements = [_as_element(value, dtype) for value in values]
        _write(array, index, change(old, *elements))
        if machine.launch.sees_again(site, (id(array), index), old):
            yield from _spin(site, "an atomic")
        return old

    return staticmethod(word(operation))


def _as_element(value: object, dtype: np.dtype) -> object:
    """The value as the array's type has it: it is converted before the atomic, not after."""
    kind = dtype.kind
    if kind == "f" and type(value) is not dtype.type:
        return dtype.type(value)
    if kind in "iu" and (isinstance(value, float | np.floating) or (kind == "u" and value < 0)):
        return Conversion(dtype.type)(value)
    return value


def _plain(old):
    return old.item() if old.dtype.kind in "iu" else old


class atomic:
    """The functions of numba.cuda.atomic."""

    add = _atomic(lambda old, value: _plain(old) + value)
    sub = _atomic(lambda old, value: _plain(old) - value)
    and_ = _atomic(lambda old, value: _plain(old) & value)
    or_ = _atomic(lambda old, value: _plain(old) | value)
    xor = _atomic(lambda old, value: _plain(old) ^ value)
    inc = _atomic(lambda old, limit: 0 if old >= limit else _plain(old) + 1)
    dec = _atomic(lambda old, limit: limit if old == 0 or old > limit else _plain(old) - 1)
    exch = _atomic(lambda old, value: value)
    max = _atomic(lambda old, value: old if old != old or not old < value else value)
    min = _atomic(lambda old, value: old if old != old or not old > value else value)
    nanmax = _atomic(lambda old, value: max(old, value) if old == old else value)
    nanmin = _atomic(lambda old, value: min(old, value) if old == old else value)
    cas = _atomic(lambda old, expected, value: value if old == expected else old)

    @staticmethod
    @word
    def compare_and_swap(site: int, array: Watched | np.ndarray, old: object, value: object) -> Waiting:
        """cas on the first element of an array of any shape."""
        first = 0 if array.ndim == 1 else (0,) * array.ndim
        return (yield from INSIDE[id(atomic.cas)](site, array, first, old, value))


def load_function(kind: int) -> Callable:
    """A load with a cache hint, or one that no compiler moves."""

    def load(site, array, index):
        value = _read(kind, array, index, site, "reads")
        is_poll = kind in PAST_FIRST_LEVEL and machine.launch.sees_again(site, (id(array), index), value)
        if is_poll:
            yield from _spin(site, "a load")
        return value

    return word(load)


def _store(kind: int) -> Callable:
    def store(site, array, index, value) -> None:
        _read(kind, array, index, site, "writes")
        _write(array, index, value)

    return word(store)


ldca, ldcs, ldlu = (load_function(LOAD) for _ in range(3))
ldcg, ldcv = (load_function(VOLATILE_LOAD) for _ in range(2))  # past the first-level cache, not coherent
stcs, stwb = (_store(STORE) for _ in range(2))
stcg, stwt = (_store(VOLATILE_STORE) for _ in range(2))


@word
def nanosleep(site: int, nanoseconds: int) -> Waiting:
    """Let all other threads run first."""
    yield from _spin(site, "nanosleep()")
