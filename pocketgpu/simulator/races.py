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
from pocketgpu.simulator.grouping import ones_before, paired, table_keys
from pocketgpu.simulator.trace import Accesses, Columns, cells

SYNCHRONISING = {trace.ATOMIC, *trace.PAST_FIRST_LEVEL, trace.VOLATILE_STORE}
POLLING = (trace.ATOMIC, *trace.PAST_FIRST_LEVEL)
WRITER = "writer"
READER = "reader"
WRITER_AND_READER = frozenset({WRITER, READER})
WRITER_ONLY = frozenset({WRITER})  # whose fences are needed
PAIRS_PER_ADDRESS = 64  # most pairs of one address whose order is decided in detail
THREADS_AT_ONCE = 512  # whose clocks are replayed together; it bounds memory and changes no result

Pair = tuple[int, int]


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
    candidates = _candidates(columns, log, flags)
    racing = _racing(columns, log, flags, candidates)
    by_writer = ordered_pairs(columns, log, flags, racing, WRITER_ONLY) if racing else set()
    in_time = ordered_pairs(columns, log, flags, racing, frozenset()) if racing else set()
    result = []
    for pair in racing:
        fence = "reader" if pair in by_writer else "writer" if pair in in_time else ""
        if fence == "reader" and log.kind[pair[1]] in trace.PAST_FIRST_LEVEL:
            continue  # it does not trust the first-level cache, which is all that the fence would empty
        result.append(Race(*pair, fence="" if int(log.address[pair[0]]) in flags.addresses else fence))
    return result


def _flags(columns: Columns, log: Accesses, waiting: WaitingSites) -> Flags:
    """Addresses through which threads synchronise: touched atomically, or polled past all caches."""
    polled = log.is_one_of(*POLLING) & waiting.polls[log.site]
    flags = np.unique(log.address[(log.kind == trace.ATOMIC) | polled])
    waited = np.unique(log.address[polled])
    fenced = counted_before(columns, trace.FENCE)[log.when] > 0
    return Flags(set(flags.tolist()), set(waited.tolist()), waiting, fenced)


def _racing(columns: Columns, log: Accesses, flags: Flags, candidates: list[Pair]) -> list[Pair]:
    """The first unordered pair of each two program places, of two blocks where there is one."""
    site = lambda pair: _sites(log, pair)
    crosses = lambda pair: log.block[pair[0]] != log.block[pair[1]]
    racing = {}
    todo = candidates
    while todo:
        threads = set()
        batch = []
        rest = []
        for pair in todo:
            thread = int(log.thread[pair[0]])
            if thread in threads or len(threads) < THREADS_AT_ONCE:
                threads.add(thread)
                batch.append(pair)
            else:
                rest.append(pair)
        ordered = ordered_pairs(columns, log, flags, batch, WRITER_AND_READER)
        for pair in batch:
            known = racing.get(site(pair))
            if pair not in ordered and (known is None or (crosses(pair) and not crosses(known))):
                racing[site(pair)] = pair
        todo = [pair for pair in rest if site(pair) not in racing]
    return sorted(racing.values())


def counted_before(columns: Columns, kind: int) -> np.ndarray:
    """[events] How many events of that kind each event's thread has behind it."""
    return ones_before(columns.kind == kind, *columns.turns.T)


def _candidates(columns: Columns, log: Accesses, flags: Flags) -> list[Pair]:
    """Pairs of accesses that barriers leave open, earlier first."""
    atomic = log.kind == trace.ATOMIC
    writes = ~log.is_one_of(*trace.LOADS)
    place, cell = _written_by_many(log, writes)
    if not len(place):
        return []
    grid = counted_before(columns, trace.GRID_SYNC)[log.when]
    block = counted_before(columns, trace.BARRIER)[log.when]
    block = block * (int(grid.max(initial=0)) + 1) + grid  # in a block both kinds order
    is_global = ~log.is_in(trace.SHARED)[place]  # no other block sees shared memory
    within_block = log.block, block, log.thread
    between_blocks = np.zeros_like(grid), grid, log.block
    pairs = _unordered_pairs(log.when, place, cell, *within_block, writes, atomic)
    pairs |= _unordered_pairs(log.when, place[is_global], cell[is_global], *between_blocks, writes, atomic)
    pairs = [pair for pair in sorted(pairs) if not _uses_flag(log, flags, *pair)]
    return _ordered_by_turn(log, pairs)


def _sites(log: Accesses, pair: Pair) -> tuple[int, int]:
    """The program places of a pair."""
    return int(log.site[pair[0]]), int(log.site[pair[1]])


def _ordered_by_turn(log: Accesses, pairs: list[Pair]) -> list[Pair]:
    """First the first pair of each two program places, then the second of each, and so on."""
    turns = {}
    ranked = []
    for pair in pairs:
        key = _sites(log, pair)
        turns[key] = turns.get(key, 0) + 1
        ranked.append((turns[key], pair))
    return [pair for _, pair in sorted(ranked)]


def _written_by_many(log: Accesses, writes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accesses to cells that a thread writes, as trace.cells gives them; local memory is left out."""
    shared = ~log.is_in(trace.LOCAL)
    if log.cell is not None:
        is_written = np.zeros(log.cells, bool)
        is_written[log.cell[writes]] = True
        place = np.flatnonzero(is_written[log.cell] & shared)
        return place, log.cell[place]
    place, cell = cells(log)
    mask = shared[place]
    written = np.unique(cell[mask & writes[place]])
    if not len(written):
        return place[:0], cell[:0]
    nearest = np.minimum(np.searchsorted(written, cell), len(written) - 1)
    chosen = mask & (written[nearest] == cell)
    return place[chosen], cell[chosen]


def _unordered_pairs(when, place, cell, scope, epoch, owner, writes, atomic) -> set[Pair]:
    """Pairs in one scope, one epoch, in one cell of memory, of which one writes, by two owners.

    place, cell: as trace.cells gives them.  The other arrays have a value for every access.
    """
    if not len(place):
        return set()
    doubtful = _of_several_owners(place, cell, scope, epoch, owner, writes, atomic)
    if not len(doubtful):
        return set()
    place = place[doubtful]
    cell = cell[doubtful]
    order = np.lexsort((when[place], epoch[place], scope[place], cell))
    place = place[order]
    cell = cell[order]
    key = np.stack([cell, scope[place], epoch[place]])
    starts = np.flatnonzero(np.r_[True, (key[:, 1:] != key[:, :-1]).any(0)])
    several = np.minimum.reduceat(owner[place], starts) != np.maximum.reduceat(owner[place], starts)
    some_write = np.logical_or.reduceat(writes[place], starts)
    all_atomic = np.logical_and.reduceat(atomic[place], starts)
    stops = np.r_[starts[1:], len(place)]
    pairs = set()
    for group in np.flatnonzero(several & some_write & ~all_atomic):
        pairs |= _pairs_of(place[starts[group] : stops[group]], writes, atomic, owner)
    return pairs


def _of_several_owners(place, cell, scope, epoch, owner, writes, atomic) -> np.ndarray:
    """Which of the places may stand in such a pair: all that do, and some more where the table is full."""
    of_epoch = paired(scope[place], epoch[place])
    key, keys = table_keys(paired(cell, of_epoch), (int(cell.max()) + 1) * (int(of_epoch.max()) + 1))
    one, several, some_write, some_plain = np.zeros(keys, np.int64), *np.zeros((3, keys), bool)
    one[key] = owner[place]
    several[key[one[key] != owner[place]]] = True
    if not several.any():
        return np.zeros(0, np.int64)
    some_write[key[writes[place]]] = True
    some_plain[key[~atomic[place]]] = True
    return np.flatnonzero((several & some_write & some_plain)[key])


def _pairs_of(group: np.ndarray, writes: np.ndarray, atomic: np.ndarray, owner: np.ndarray) -> set[Pair]:
    """Each access with the latest plain and the latest atomic write of another owner before it, and each
    write with the reads since the last one.
    """
    pairs = set()
    reads = []
    latest = {True: [], False: []}  # atomic or not: the last write, and the last of another owner
    for place in map(int, group):
        mine = owner[place]
        for others in latest.values():
            other = next((write for write in others if owner[write] != mine), None)
            if other is not None:
                pairs.add((other, place))
        if writes[place]:
            pairs |= {(read, place) for read in reads[-PAIRS_PER_ADDRESS:] if owner[read] != mine}
            previous = latest[bool(atomic[place])]
            previous[:] = [place, *(write for write in previous if owner[write] != mine)][:2]
            reads = []
        else:
            reads.append(place)
    return pairs


def _uses_flag(log: Accesses, flags: Flags, first: int, second: int) -> bool:
    """Is that how a flag is meant to be used?

    Both accesses are atomic, or may not be cached; or one is a plain store behind a fence, to a flag that a
    loop waits for: a lock is given back so.
    """
    address = int(log.address[first])
    if address not in flags.addresses:
        return False
    if any(is_weak_poll(log, flags.waiting, place) for place in (first, second)):
        return False
    kinds = {int(log.kind[first]), int(log.kind[second])}
    if kinds <= SYNCHRONISING:
        return bool(kinds & {trace.ATOMIC, trace.VOLATILE_STORE})
    if kinds == {trace.STORE}:  # two owners of a lock gave it back, one after the other
        behind_fences = flags.fenced[first] and flags.fenced[second]
        return address in flags.waited and behind_fences and _has_own_atomic_between(log, first, second)
    if trace.LOAD in kinds or not kinds & SYNCHRONISING:
        return False
    store = first if log.kind[first] == trace.STORE else second
    if address in flags.waited and flags.fenced[store]:
        return True
    return store == second and log.kind[first] == trace.ATOMIC and _has_own_atomic_between(log, first, second)


def _has_own_atomic_between(log: Accesses, first: int, second: int) -> bool:
    """Has the second access's thread had an atomic at the address since the first?  Then they are ordered."""
    between = slice(first + 1, second)
    mine = (log.thread[between] == log.thread[second]) & (log.kind[between] == trace.ATOMIC)
    return bool((mine & (log.address[between] == log.address[first])).any())


def ordered_pairs(
    columns: Columns, log: Accesses, flags: Flags, pairs: list[Pair], fences: frozenset
) -> set[Pair]:
    """Those pairs of accesses, earlier first, that are certainly ordered if only these fences are needed."""
    return ClockReplay(columns, log, flags, pairs, fences).ordered


class ClockReplay:
    """Vector clocks followed through the trace; `ordered` has the pairs that they order."""

    def __init__(self, columns: Columns, log: Accesses, flags: Flags, pairs, fences: frozenset):
        self.columns = columns
        self.log = log
        self.flags = flags
        self.fences = fences
        watched = sorted({int(log.thread[first]) for first, _ in pairs})
        self.column_of = {thread: k for k, thread in enumerate(watched)}
        self.known = np.zeros((int(columns.thread.max()) + 1, len(watched)), np.int64)
        self.segment = np.zeros(len(self.known), np.int64)
        self.fenced = {}  # thread -> (clock at its last fence, how far that reached)
        self.unfenced = {}  # (thread, same block) -> clock of flags that it has seen since its last fence
        self.at_barrier = {}
        self.published = {}
        self.seen_by = {}  # clocks of threads at a barrier
        self.pending = {}
        self.times = defaultdict(int)
        self.carried = {}  # address -> {(scope, block): clock}
        self.segment_at = {}
        self.firsts = defaultdict(list)
        for first, second in pairs:
            self.segment_at[first] = 0
            self.firsts[second].append(first)
        self.ordered = set()
        self._replay()

    def _replay(self) -> None:
        log = self.log
        places = {*self.segment_at, *self.firsts}
        interesting = np.isin(
            self.columns.kind, (trace.FENCE, trace.BARRIER, trace.WARP_SYNC, trace.GRID_SYNC)
        )
        flagged = np.isin(log.address, list(self.flags.addresses)) if self.flags.addresses else []
        chosen = {*np.flatnonzero(flagged).tolist(), *places}
        place_of = {int(log.when[place]): place for place in chosen}
        interesting[[*place_of]] = True
        for event in np.flatnonzero(interesting).tolist():
            thread = int(self.columns.thread[event])
            self._enter(thread)
            place = place_of.get(event)
            if place is None:
                self._synchronise(int(self.columns.kind[event]), thread, int(self.columns.detail[event]))
                continue
            if int(log.address[place]) in self.flags.addresses:
                self._flag(int(log.kind[place]), thread, place)
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
        if thread not in self.pending:
            return
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
