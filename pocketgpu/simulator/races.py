"""Data races: two threads touch the same bytes, one of them writes, and nothing orders the two.

Almost all pairs are cleared by counting barriers: within a block, accesses with a different number of
barriers behind them are ordered; between blocks, those with a different number of grid barriers.  Only for
the pairs that are left is the order decided in detail: did one access certainly happen before the other?

That is decided by vector clocks over the trace (Fidge 1988, Mattern 1989).  Every thread counts its own
segments, which end where it publishes what it has done: at a barrier, at syncwarp(), at a fence.  Shuffles
and votes make lanes wait for one another, but they order no memory.  A flag carries what was published at
the last fence of the thread that set it, or at the last fence of any thread with which it has synchronised
since.  Set without a fence it carries nothing, because then its write may arrive before those that it
announces.

A thread that waits for a flag in a loop may use what the flag carries after a fence of its own: without one
it may read an old value from its cache.  An atomic in the condition of a while only reads the flag: it does
not set it.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator import trace
from pocketgpu.simulator.grouping import (
    contested,
    ones_before,
    paired,
    repeated,
    starts_of,
    table_keys,
    turn_in_group,
)
from pocketgpu.simulator.trace import Accesses, Columns

SYNCHRONISING = {trace.ATOMIC, *trace.PAST_FIRST_LEVEL, trace.VOLATILE_STORE}
POLLING = (trace.ATOMIC, *trace.PAST_FIRST_LEVEL)
WRITER = "writer"
READER = "reader"
WRITER_AND_READER = frozenset({WRITER, READER})
WRITER_ONLY = frozenset({WRITER})  # whose fences are needed
PAIRS_PER_ADDRESS = 64  # most pairs of one address whose order is decided in detail
THREADS_AT_ONCE = 512  # whose clocks are replayed together; it bounds memory and changes no result


class WaitingSites(NamedTuple):
    """Places of the program in loops that wait for other threads."""

    conditions: np.ndarray  # [sites] in the condition of a while
    polls: np.ndarray  # [sites] there, or in a loop that a break leaves
    tested: np.ndarray  # [sites] what says whether a loop ends


def is_weak_poll(log: Accesses, waiting: WaitingSites, place: int) -> bool:
    """Does a loop wait by this load, which a compiler may take out of it, or remove with it?"""
    return log.kind[place] == trace.VOLATILE_LOAD and bool(waiting.tested[log.site[place]])


class Flags(NamedTuple):
    """Addresses through which threads synchronise, and where the program does so."""

    addresses: set[int]
    waited: set[int]  # of these, those that a loop waits for
    waiting: WaitingSites
    fenced: np.ndarray  # [accesses] the thread has a fence behind it


@dataclass(frozen=True)
class Race:
    """Two accesses, by their places; `fence`: whose fence would order them, "writer", "reader" or ""."""

    first: int
    second: int
    fence: str = ""


def races(columns: Columns, log: Accesses, waiting: WaitingSites) -> list[Race]:
    """One race for each pair of program places."""
    flags = _flags(columns, log, waiting)
    racing = _racing(columns, log, flags, _candidates(columns, log, flags))
    by_writer = ordered_pairs(columns, log, flags, racing, WRITER_ONLY)
    in_time = ordered_pairs(columns, log, flags, racing, frozenset())
    result = []
    for (first, second), needs_reader, needs_writer in zip(racing.tolist(), by_writer, in_time, strict=True):
        fence = "reader" if needs_reader else "writer" if needs_writer else ""
        if fence == "reader" and log.kind[second] in trace.PAST_FIRST_LEVEL:
            continue  # it does not trust the first-level cache, which is all that the fence would empty
        result.append(Race(first, second, "" if int(log.address[first]) in flags.addresses else fence))
    return result


def _flags(columns: Columns, log: Accesses, waiting: WaitingSites) -> Flags:
    """Addresses through which threads synchronise: touched atomically, or polled past all caches."""
    polled = log.is_one_of(*POLLING) & waiting.polls[log.site]
    flags = {*log.address[log.is_one_of(trace.ATOMIC) | polled].tolist()}
    waited = {*log.address[polled].tolist()}
    fenced = counted_before(columns, trace.FENCE)[log.when] > 0
    return Flags(flags, waited, waiting, fenced)


def _racing(columns: Columns, log: Accesses, flags: Flags, candidates: np.ndarray) -> np.ndarray:
    """[races,2] The first unordered pair of each two program places, of two blocks where there is one."""
    racing = {}
    sites = _sites(log, candidates)
    while len(candidates):
        _, begins, number = np.unique(log.thread[candidates[:, 0]], return_index=True, return_inverse=True)
        is_soon = np.argsort(np.argsort(begins))[number] < THREADS_AT_ONCE
        pairs = candidates[is_soon]
        is_open = ~ordered_pairs(columns, log, flags, pairs, WRITER_AND_READER)
        crosses = log.block[pairs[:, 0]] != log.block[pairs[:, 1]]
        for chosen in (np.flatnonzero(is_open), np.flatnonzero(is_open & crosses)):
            of_sites, first = np.unique(sites[is_soon][chosen], return_index=True)
            racing |= zip(of_sites.tolist(), pairs[chosen[first]].tolist(), strict=True)
        is_left = ~is_soon & ~np.isin(sites, [*racing])
        candidates = candidates[is_left]
        sites = sites[is_left]
    return np.array(sorted(racing.values()), int).reshape(-1, 2)


def counted_before(columns: Columns, kind: int) -> np.ndarray:
    """[events] How many events of that kind each event's thread has behind it."""
    return ones_before(columns.kind == kind, *columns.turns.T)


def _candidates(columns: Columns, log: Accesses, flags: Flags) -> np.ndarray:
    """[pairs,2] Accesses that barriers leave open, earlier first: of each two program places the first pair,
    then of each the second, and so on.
    """
    atomic = log.is_one_of(trace.ATOMIC)
    writes = ~log.is_one_of(*trace.LOADS)
    place, cell = _written_by_many(log, writes)
    grid = counted_before(columns, trace.GRID_SYNC)[log.when]
    block = counted_before(columns, trace.BARRIER)[log.when]
    block = block * (int(grid.max(initial=0)) + 1) + grid  # in a block both kinds order
    is_global = ~log.is_in(trace.SHARED)[place]  # no other block sees shared memory
    within_block = log.block, block, log.thread
    between_blocks = np.zeros_like(grid), grid, log.block
    pairs = [
        unordered_pairs(place, cell, *within_block, writes, atomic),
        unordered_pairs(place[is_global], cell[is_global], *between_blocks, writes, atomic),
    ]
    key = np.sort(np.concatenate(pairs) @ (len(atomic), 1))  # np.unique takes ten times as long
    pairs = np.stack(np.divmod(key[starts_of(key)], max(1, len(atomic))), 1)
    pairs = pairs[~_use_flags(log, flags, *pairs.T)]
    return pairs[np.argsort(turn_in_group(_sites(log, pairs)), kind="stable")]


def _sites(log: Accesses, pairs: np.ndarray) -> np.ndarray:
    """[pairs] A number for each two program places."""
    return log.site[pairs] @ (int(log.site.max(initial=0)) + 1, 1)


def _written_by_many(log: Accesses, writes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accesses to cells that a thread writes, and these, as log.touched; local memory is left out."""
    place, cell = log.touched
    is_written = np.zeros(int(cell.max(initial=-1)) + 1, bool)
    is_written[cell[writes[place]]] = True
    chosen = is_written[cell] & ~log.is_in(trace.LOCAL)[place]
    return place[chosen], cell[chosen]


def unordered_pairs(
    place: np.ndarray,
    cell: np.ndarray,
    scope: np.ndarray,
    epoch: np.ndarray,
    owner: np.ndarray,
    writes: np.ndarray,
    atomic: np.ndarray,
) -> np.ndarray:
    """[pairs,2] In one scope, one epoch, in one cell of memory, not all of them atomic, by two owners: each
    access with the latest plain and the latest atomic write before it, and each write with the reads since
    the last one.

    place, cell: as log.touched gives them.  The other arrays have a value for every access.
    """
    key = paired(cell, paired(scope[place], epoch[place]))
    doubtful = _of_several_owners(key, owner[place], writes[place], ~atomic[place])
    order = doubtful[np.argsort(key[doubtful], kind="stable")]
    place = place[order]
    starts = starts_of(key[order])
    lengths = np.diff(starts, append=len(place))
    begins = repeated(starts, lengths)  # place of the group's first access
    some_plain = repeated(np.logical_or.reduceat(~atomic[place], starts), lengths)
    owner, writes, atomic = owner[place], writes[place], atomic[place]
    pairs = [_after_writes(begins, owner, writes & chosen) for chosen in (atomic, ~atomic)]
    pairs = np.concatenate([*pairs, _before_writes(begins, owner, writes)])
    return place[pairs[some_plain[pairs[:, 1]]]]


def _of_several_owners(
    key: np.ndarray, owner: np.ndarray, writes: np.ndarray, plain: np.ndarray
) -> np.ndarray:
    """Places of those with such a key that stand in a pair, and of some more where the table is full."""
    key, keys = table_keys(key, int(key.max(initial=0)) + 1)
    return np.flatnonzero(contested(key, keys, owner, writes, plain)[key])


def _after_writes(begins: np.ndarray, owner: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """[pairs,2] Each access with the latest of the chosen writes before it that is another owner's."""
    writes = np.r_[-1, np.flatnonzero(chosen)]  # the first stands for none
    runs = np.stack([np.r_[begins, -1], np.r_[owner, -1]])[:, writes]
    changes = np.r_[True, (runs[:, 1:] != runs[:, :-1]).any(0)]
    before_run = np.maximum.accumulate(np.where(changes, np.arange(len(writes)), 0)) - 1
    number = np.cumsum(chosen) - chosen
    latest = writes[np.where(runs[1][number] == owner, before_run[number], number)]
    return np.stack([latest, np.arange(len(owner))], 1)[latest >= begins]


def _before_writes(begins: np.ndarray, owner: np.ndarray, writes: np.ndarray) -> np.ndarray:
    """[pairs,2] Each write with the other owners' among the reads since the last write."""
    write = np.flatnonzero(writes)
    behind_last = np.r_[0, write + 1][:-1]
    number = write - np.maximum(np.maximum(behind_last, begins[write]), write - PAIRS_PER_ADDRESS)
    read = np.arange(int(number.sum())) + repeated(write - np.cumsum(number), number)
    pairs = np.stack([read, repeated(write, number)], 1)
    return pairs[owner[pairs[:, 0]] != owner[pairs[:, 1]]]


def _use_flags(log: Accesses, flags: Flags, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[pairs] Is that how a flag is meant to be used?

    Both accesses are atomic, or may not be cached; or one is a plain store behind a fence, to a flag that a
    loop waits for: a lock is given back so.
    """
    at_flag, waited = (np.isin(log.address[first], [*known]) for known in (flags.addresses, flags.waited))
    if not at_flag.any():
        return at_flag
    stores = log.is_one_of(trace.STORE)
    changes = log.is_one_of(trace.ATOMIC, trace.VOLATILE_STORE)
    synchronises = log.is_one_of(*SYNCHRONISING)
    weak = log.is_one_of(trace.VOLATILE_LOAD) & flags.waiting.tested[log.site]
    fenced = flags.fenced
    one_stores = stores[first] & synchronises[second] | synchronises[first] & stores[second]
    uses = synchronises[first] & synchronises[second] & (changes[first] | changes[second])
    uses |= one_stores & waited & np.where(stores[first], fenced[first], fenced[second])
    # two owners of a lock gave it back, one after the other
    unsure = stores[first] & stores[second] & waited & fenced[first] & fenced[second]
    unsure |= one_stores & stores[second] & log.is_one_of(trace.ATOMIC)[first]
    for pair in np.flatnonzero(at_flag & unsure & ~uses):
        uses[pair] = _has_own_atomic_between(log, first[pair], second[pair])
    return at_flag & uses & ~(weak[first] | weak[second])


def _has_own_atomic_between(log: Accesses, first: int, second: int) -> bool:
    """Has the second access's thread had an atomic at the address since the first?  Then they are ordered."""
    between = slice(first + 1, second)
    mine = (log.thread[between] == log.thread[second]) & (log.kind[between] == trace.ATOMIC)
    return bool((mine & (log.address[between] == log.address[first])).any())


def ordered_pairs(
    columns: Columns, log: Accesses, flags: Flags, pairs: np.ndarray, fences: frozenset
) -> np.ndarray:
    """[pairs] Which of the candidates are certainly ordered if only these fences are needed."""
    if not len(pairs) or not (flags.addresses or (columns.kind == trace.WARP_SYNC).any()):
        return np.zeros(len(pairs), bool)  # nothing orders accesses that barriers leave open
    pairs = [*map(tuple, pairs.tolist())]
    ordered = ClockReplay(columns, log, flags, pairs, fences).ordered
    return np.array([pair in ordered for pair in pairs])


@dataclass
class ClockReplay:
    """Vector clocks followed through the trace; `ordered` has the pairs that they order."""

    columns: Columns
    log: Accesses
    flags: Flags
    pairs: list[tuple[int, int]]
    fences: frozenset

    def __post_init__(self):
        watched = sorted({int(self.log.thread[first]) for first, _ in self.pairs})
        self.column_of = {thread: k for k, thread in enumerate(watched)}
        self.known = np.zeros((int(self.columns.thread.max()) + 1, len(watched)), np.int64)
        self.segment = np.zeros(len(self.known), np.int64)
        self.fenced = {}  # thread -> (clock at its last fence, how far that reached)
        self.unfenced = {}  # (thread, same block) -> clock of flags that it has seen since its last fence
        self.at_barrier = {}
        self.published = {}
        self.seen_by = {}  # clocks of threads at a barrier
        self.pending = {}
        self.times = defaultdict(int)
        self.carried = {}  # address -> {(scope, block): clock}
        self.segment_at = {first: 0 for first, _ in self.pairs}
        self.firsts = defaultdict(list)
        for first, second in self.pairs:
            self.firsts[second].append(first)
        self.ordered = set()
        self._replay()

    def _replay(self) -> None:
        log = self.log
        places = {*self.segment_at, *self.firsts}
        interesting = np.isin(
            self.columns.kind, (trace.FENCE, trace.BARRIER, trace.WARP_SYNC, trace.GRID_SYNC)
        )
        flagged = np.flatnonzero(np.isin(log.address, [*self.flags.addresses])).tolist()
        place_of = {int(log.when[place]): place for place in (*flagged, *places)}
        interesting[[*place_of]] = True
        events = np.flatnonzero(interesting)
        columns = self.columns.thread, self.columns.kind, self.columns.detail
        rows = zip(events.tolist(), *(column[events].tolist() for column in columns), strict=True)
        flagged = {*flagged}
        for event, thread, kind, detail in rows:
            if thread in self.pending:
                self._enter(thread)
            place = place_of.get(event)
            if place is None:
                self._synchronise(kind, thread, detail)
                continue
            if place in flagged:
                self._flag(kind, thread, place)
            if place in places:
                self._compare(place, thread)

    def _compare(self, place: int, thread: int) -> None:
        for first in self.firsts.get(place, ()):
            column = self.column_of[int(self.log.thread[first])]
            if self.known[thread, column] > self.segment_at[first]:
                self.ordered.add((first, place))
        if place in self.segment_at:
            self.segment_at[place] = int(self.segment[thread])

    def _enter(self, thread: int) -> None:
        """Give a thread that continues after a barrier the clocks of all threads that came to it."""
        key = self.pending.pop(thread)
        np.maximum(self.known[thread], self.at_barrier[key], out=self.known[thread])
        if key in self.published:
            own, scope = self.fenced.get(thread, (None, trace.BLOCK))
            clock = self.published[key] if scope == trace.BLOCK else np.maximum(own, self.published[key])
            self.fenced[thread] = clock, trace.DEVICE
        for same_block, clock in self.seen_by.get(key, {}).items():
            _merge_clocks(self.unfenced, (thread, same_block), clock)

    def _end_segment(self, thread: int) -> np.ndarray:
        """End the thread's segment: a copy of its clock, which a barrier, a fence or a flag passes on."""
        self.segment[thread] += 1
        if thread in self.column_of:
            self.known[thread, self.column_of[thread]] = self.segment[thread]
        return self.known[thread].copy()

    def _synchronise(self, kind: int, thread: int, detail: int) -> None:
        if kind == trace.FENCE:
            for same_block in (True, False) if detail != trace.BLOCK else (True,):
                clock = self.unfenced.pop((thread, same_block), 0)
                np.maximum(self.known[thread], clock, out=self.known[thread])
            self.fenced[thread] = self._end_segment(thread), detail
            return
        clock = self._end_segment(thread)
        block = thread // self.log.threads_per_block
        if kind == trace.WARP_SYNC:
            group = (kind, block, thread % self.log.threads_per_block // trace.WARP, detail)
            self.times[thread, group] += 1
            key = (*group, self.times[thread, group])
        else:
            key = (kind, block if kind == trace.BARRIER else 0, detail)
        _merge_clocks(self.at_barrier, key, clock)
        fenced, scope = self.fenced.get(thread, (None, trace.BLOCK))
        if scope != trace.BLOCK:
            _merge_clocks(self.published, key, fenced)
        for same_block in (True, False):
            if (thread, same_block) in self.unfenced:
                _merge_clocks(self.seen_by.setdefault(key, {}), same_block, self.unfenced[thread, same_block])
        self.pending[thread] = key

    def _flag(self, kind: int, thread: int, place: int) -> None:
        address = int(self.log.address[place])
        block = thread // self.log.threads_per_block
        site = self.log.site[place]
        if kind in POLLING:
            for setter, clock in self.carried.get(address, {}).items():
                if setter[0] == trace.BLOCK and setter[1] != block:
                    continue  # a fence that only its own block waits for
                if READER in self.fences and self.flags.waiting.polls[site]:
                    _merge_clocks(self.unfenced, (thread, setter[1] == block), clock)
                else:
                    np.maximum(self.known[thread], clock, out=self.known[thread])
        if (
            kind in (trace.ATOMIC, trace.STORE, trace.VOLATILE_STORE)
            and not self.flags.waiting.conditions[site]
        ):
            clock, scope = self.fenced.get(thread, (None, None))
            if WRITER not in self.fences:
                clock = self._end_segment(thread)
                scope = trace.DEVICE
            carried = self.carried.setdefault(address, {})
            if kind != trace.ATOMIC:
                carried.clear()
            if clock is not None:
                _merge_clocks(carried, (trace.BLOCK if scope == trace.BLOCK else trace.DEVICE, block), clock)


def _merge_clocks(clocks: dict, key: object, clock: np.ndarray) -> None:
    """Merge a clock into the one at that key."""
    clocks[key] = np.maximum(clocks[key], clock) if key in clocks else clock
