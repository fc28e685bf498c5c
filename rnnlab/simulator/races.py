"""Data races: two threads touch the same bytes, one of them writes, and nothing orders the two.

Almost all pairs are cleared by counting barriers: within a block, accesses with a different number of
barriers behind them are ordered; between blocks, those with a different number of grid barriers.  Only what
is left is looked at closely, with vector clocks over the trace (Fidge 1988, Mattern 1989): every thread
counts its own segments, which end where it publishes what it has done: at a barrier, where its warp
synchronises, at a fence.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from rnnlab.simulator.trace import (
    ATOMIC,
    BARRIER,
    BLOCK,
    FENCE,
    GRID_SYNC,
    LOAD,
    LOCAL,
    SPACES,
    STORE,
    VOLATILE_LOAD,
    VOLATILE_STORE,
    WARP,
    WARP_SYNC,
    Accesses,
    Columns,
)


class Clocks:
    """What each thread knows of some others, at the accesses that are asked about."""

    def __init__(self, columns: Columns, found: Accesses, flags, waits, watched, pairs, needs_fence: bool):
        self.columns, self.found, self.waits, self.needs_fence = columns, found, waits, needs_fence
        self.column_of = {thread: k for k, thread in enumerate(watched)}
        threads = int(columns.thread.max()) + 1
        self.known = np.zeros((threads, len(watched)), np.int64)
        self.segment = np.zeros(threads, np.int64)
        self.fenced = {}  # thread -> (clock at its last fence, how far that reached)
        self.meetings, self.pending, self.met = {}, {}, defaultdict(int)
        self.flags = {}  # address -> [(clock, scope, block of whoever set it)]
        asked = {place for pair in pairs for place in pair}
        self.seen = {}  # place -> (its segment, what its thread knew)
        self._replay(set(map(int, flags)), asked)

    def ordered(self, first: int, second: int) -> bool:
        """Is the first access behind the second for certain?"""
        thread = int(self.found.thread[first])
        if thread == int(self.found.thread[second]):
            return True
        segment, (_, knew) = self.seen[first][0], self.seen[second]
        return bool(knew[self.column_of[thread]] > segment)

    def _replay(self, flags: set[int], asked: set[int]) -> None:
        place_of = {int(when): place for place, when in enumerate(self.found.when)}
        interesting = np.isin(self.columns.kind, (FENCE, BARRIER, WARP_SYNC, GRID_SYNC))
        interesting[self.found.when[[*asked]]] = True
        if flags:
            interesting[self.found.when[np.isin(self.found.address, list(flags))]] = True
        for event in np.flatnonzero(interesting):
            kind, thread = int(self.columns.kind[event]), int(self.columns.thread[event])
            self._enter(thread)
            place = place_of.get(int(event))
            if place is None:
                self._synchronise(kind, thread, self.columns.detail[event])
                continue
            if int(self.found.address[place]) in flags:
                self._flag(kind, thread, place)
            if place in asked:
                self.seen[place] = int(self.segment[thread]), self.known[thread].copy()

    def _enter(self, thread: int) -> None:
        """A thread that goes on after a meeting knows what all who met knew."""
        if thread in self.pending:
            np.maximum(self.known[thread], self.meetings[self.pending.pop(thread)], out=self.known[thread])

    def _end_segment(self, thread: int) -> np.ndarray:
        """What the thread has done so far, and knew: its clock, to be handed on."""
        self.segment[thread] += 1
        if thread in self.column_of:
            self.known[thread, self.column_of[thread]] = self.segment[thread]
        return self.known[thread].copy()

    def _synchronise(self, kind: int, thread: int, detail: object) -> None:
        clock = self._end_segment(thread)
        if kind == FENCE:
            self.fenced[thread] = clock, detail
            return
        block = thread // self.found.threads_per_block
        if kind == WARP_SYNC:
            group = (kind, block, thread % self.found.threads_per_block // WARP, detail)
            self.met[thread, group] += 1
            key = (*group, self.met[thread, group])
        else:
            key = (kind, block if kind == BARRIER else 0, detail)
        if key in self.meetings:
            np.maximum(self.meetings[key], clock, out=self.meetings[key])
        else:
            self.meetings[key] = clock
        self.pending[thread] = key

    def _flag(self, kind: int, thread: int, place: int) -> None:
        address, block = int(self.found.address[place]), thread // self.found.threads_per_block
        if kind in (ATOMIC, VOLATILE_LOAD):
            for clock, scope, setter in self.flags.get(address, ()):
                if scope != BLOCK or setter == block:
                    np.maximum(self.known[thread], clock, out=self.known[thread])
        if kind in (ATOMIC, STORE, VOLATILE_STORE) and not self.waits[self.found.site[place]]:
            clock, scope = self.fenced.get(thread, (None, None))
            if not self.needs_fence:
                clock, scope = self._end_segment(thread), None
            carried = self.flags.get(address, []) if kind == ATOMIC else []
            self.flags[address] = carried + ([] if clock is None else [(clock, scope, block)])


READING = (LOAD, VOLATILE_LOAD)
PAIRS_PER_ADDRESS = 64  # looked at closely, of the pairs that one address may have


@dataclass(frozen=True)
class Race:
    """Two accesses, by their places; `fence`: a fence before the flag would order them."""

    first: int
    second: int
    fence: bool = False


def races(columns: Columns, found: Accesses, waits: np.ndarray) -> list[Race]:
    """One race for each pair of program places; waits [sites] says where a while looks at something."""
    flags = flag_addresses(found, waits)
    candidates = _candidates(columns, found, flags)
    if not candidates:
        return []
    threads = {int(found.thread[first]) for first, _ in candidates}
    strict, lenient = (
        Clocks(columns, found, flags, waits, sorted(threads), candidates, needs) for needs in (True, False)
    )
    told, result = set(), []
    for first, second in candidates:
        place = (int(found.site[first]), int(found.site[second]))
        if place not in told and not strict.ordered(first, second):
            told.add(place)
            result.append(Race(first, second, fence=lenient.ordered(first, second)))
    return result


def flag_addresses(found: Accesses, waits: np.ndarray) -> np.ndarray:
    """Addresses through which threads synchronise: touched atomically, or polled past all caches."""
    polled = (found.kind == VOLATILE_LOAD) & waits[found.site]
    return np.unique(found.address[(found.kind == ATOMIC) | polled])


def barriers_behind(columns: Columns, kind: int) -> np.ndarray:
    """[events] How many events of that kind each event's thread has behind it."""
    if not (columns.kind == kind).any():
        return np.zeros(len(columns.kind), np.int64)
    order = np.argsort(columns.thread, kind="stable")
    is_one = (columns.kind == kind)[order].astype(np.int64)
    running = np.cumsum(is_one) - is_one
    thread = columns.thread[order]
    starts = np.flatnonzero(np.r_[True, thread[1:] != thread[:-1]])
    behind = np.empty(len(order), np.int64)
    behind[order] = running - np.repeat(running[starts], np.diff(np.r_[starts, len(order)]))
    return behind


def _candidates(columns: Columns, found: Accesses, flags: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of accesses that barriers leave open, earlier first."""
    shared_by_many = found.space != SPACES.index(LOCAL)
    grid = barriers_behind(columns, GRID_SYNC)[found.when]
    block = barriers_behind(columns, BARRIER)[found.when]
    block = block * (int(grid.max(initial=0)) + 1) + grid  # in a block both kinds order
    pairs = _open_pairs(found, shared_by_many, found.block, block)  # within a block
    if len(np.unique(found.block)) > 1:
        pairs |= _open_pairs(found, shared_by_many, np.zeros_like(grid), grid, across=True)
    return sorted(pair for pair in pairs if not _both_synchronise(found, flags, *pair))


def _open_pairs(
    found: Accesses, mask: np.ndarray, scope: np.ndarray, epoch: np.ndarray, across: bool = False
):
    """Pairs in one scope, one epoch, at one address, of which one writes, by two threads (two blocks)."""
    writes = np.logical_and.reduce([found.kind != kind for kind in READING])
    written = np.unique(found.address[mask & writes])
    if not len(written):
        return set()
    nearest = np.minimum(np.searchsorted(written, found.address), len(written) - 1)
    places = np.flatnonzero(mask & (written[nearest] == found.address))
    order = places[np.lexsort((found.when[places], epoch[places], scope[places], found.address[places]))]
    key = np.stack([found.address[order], scope[order], epoch[order]])
    starts = (
        np.flatnonzero(np.r_[True, (key[:, 1:] != key[:, :-1]).any(0)]) if len(order) else np.zeros(0, int)
    )
    if not len(starts):
        return set()
    owner = (found.block if across else found.thread)[order]
    several = np.minimum.reduceat(owner, starts) != np.maximum.reduceat(owner, starts)
    some_write = np.logical_or.reduceat(writes[order], starts)
    all_atomic = np.logical_and.reduceat(found.kind[order] == ATOMIC, starts)
    pairs = set()
    for group in np.flatnonzero(several & some_write & ~all_atomic):
        stop = starts[group + 1] if group + 1 < len(starts) else len(order)
        pairs |= _pairs_of(found, order[starts[group] : stop], writes, across)
    return pairs


def _pairs_of(found: Accesses, group: np.ndarray, writes: np.ndarray, across: bool) -> set[tuple[int, int]]:
    """Each access with the latest write before it, and each write with the reads since the last one."""
    owner, pairs, last_write, reads = found.block if across else found.thread, set(), None, []
    for place in map(int, group):
        if last_write is not None and owner[last_write] != owner[place]:
            pairs.add((last_write, place))
        if writes[place]:
            pairs |= {(read, place) for read in reads[-PAIRS_PER_ADDRESS:] if owner[read] != owner[place]}
            last_write, reads = place, []
        else:
            reads.append(place)
    return pairs


def _both_synchronise(found: Accesses, flags: np.ndarray, first: int, second: int) -> bool:
    """Is that how a flag is meant to be used: one of the two is atomic, or may not be cached?"""
    special = (ATOMIC, VOLATILE_LOAD, VOLATILE_STORE)
    kinds = {int(found.kind[first]), int(found.kind[second])}
    both = kinds <= set(special)
    one = bool(kinds & set(special)) and found.address[first] in flags and LOAD not in kinds
    return (both and bool(kinds & {ATOMIC, VOLATILE_STORE}) and found.address[first] in flags) or one
