"""Vector clocks over the trace: did one access certainly happen before another (Fidge 1988, Mattern 1989)?

Every thread counts its own segments, which end where it publishes what it has done: at a barrier, at
syncwarp(), at a fence.  Shuffles and votes make lanes wait for one another, but they order no memory.  A flag
carries what was published at the last fence of the thread that set it, or at the last fence of any thread
with which it has synchronised since.  Set without a fence it carries nothing, because then its write may
arrive before those that it announces.

A thread that waits for a flag in a loop may use what the flag carries after a fence of its own: without one
it may read an old value from its cache.  An atomic in the condition of a while only reads the flag: it does
not set it.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator import trace
from pocketgpu.simulator.addresses import Accesses
from pocketgpu.simulator.trace import Columns
from pocketgpu.simulator.waiting import WaitingSites

POLLING = (trace.ATOMIC, *trace.PAST_FIRST_LEVEL)
CHANGING = (trace.ATOMIC, trace.STORE, trace.VOLATILE_STORE)
ORDERING = (trace.FENCE, trace.BARRIER, trace.WARP_SYNC, trace.GRID_SYNC)
WRITER = "writer"
READER = "reader"


class Flags(NamedTuple):
    """Addresses through which threads synchronise, and where the program does so."""

    addresses: set[int]
    waited: set[int]  # of these, those that a loop waits for
    waiting: WaitingSites
    fenced: np.ndarray  # [accesses] the thread has a fence behind it


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
        self.column_of = {thread: column for column, thread in enumerate(watched)}
        threads = int(self.columns.thread.max()) + 1
        self.known = np.zeros((threads, len(watched)), np.int64)
        self.segment = np.zeros(threads, np.int64)
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
        columns = self.columns
        places = {*self.segment_at, *self.firsts}
        is_at_flag = np.isin(log.address, [*self.flags.addresses])
        flagged = {*np.flatnonzero(is_at_flag).tolist()}
        place_of = {int(log.when[place]): place for place in flagged | places}
        interesting = np.isin(columns.kind, ORDERING)
        interesting[[*place_of]] = True
        events = np.flatnonzero(interesting)
        rows = np.stack([events, columns.thread[events], columns.kind[events], columns.detail[events]], 1)
        for event, thread, kind, detail in rows.tolist():
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
            first_thread = int(self.log.thread[first])
            column = self.column_of[first_thread]
            if self.known[thread, column] > self.segment_at[first]:
                self.ordered.add((first, place))
        if place in self.segment_at:
            self.segment_at[place] = int(self.segment[thread])

    def _enter(self, thread: int) -> None:
        """Give a thread that continues after a barrier the clocks of all threads that came to it."""
        key = self.pending.pop(thread)
        self._learn(thread, self.at_barrier[key])
        if key in self.published:
            clock = self.published[key]
            own, scope = self.fenced.get(thread, (None, trace.BLOCK))
            if scope != trace.BLOCK:
                clock = np.maximum(own, clock)
            self.fenced[thread] = clock, trace.DEVICE
        for same_block, clock in self.seen_by.get(key, {}).items():
            _merge_clocks(self.unfenced, (thread, same_block), clock)

    def _learn(self, thread: int, clock: np.ndarray | int) -> None:
        """Let a thread know all that this clock knows."""
        known = self.known[thread]
        np.maximum(known, clock, out=known)

    def _end_segment(self, thread: int) -> np.ndarray:
        """End the thread's segment: a copy of its clock, which a barrier, a fence or a flag passes on."""
        self.segment[thread] += 1
        if thread in self.column_of:
            column = self.column_of[thread]
            self.known[thread, column] = self.segment[thread]
        return self.known[thread].copy()

    def _synchronise(self, kind: int, thread: int, detail: int) -> None:
        if kind == trace.FENCE:
            self._pass_fence(thread, detail)
            return
        clock = self._end_segment(thread)
        key = self._barrier_key(kind, thread, detail)
        _merge_clocks(self.at_barrier, key, clock)
        fenced, scope = self.fenced.get(thread, (None, trace.BLOCK))
        if scope != trace.BLOCK:
            _merge_clocks(self.published, key, fenced)
        for same_block in (True, False):
            if (thread, same_block) in self.unfenced:
                seen = self.seen_by.setdefault(key, {})
                _merge_clocks(seen, same_block, self.unfenced[thread, same_block])
        self.pending[thread] = key

    def _pass_fence(self, thread: int, scope: int) -> None:
        """Let a thread use what the flags carry that it has seen, as far as the fence reaches."""
        self._learn(thread, self.unfenced.pop((thread, True), 0))
        if scope != trace.BLOCK:
            self._learn(thread, self.unfenced.pop((thread, False), 0))
        self.fenced[thread] = self._end_segment(thread), scope

    def _barrier_key(self, kind: int, thread: int, detail: int) -> tuple:
        """What names the barrier at which a thread arrives: its kind, who takes part, and which one it is."""
        block, local = divmod(thread, self.log.threads_per_block)
        if kind == trace.GRID_SYNC:
            return kind, 0, detail
        if kind == trace.BARRIER:
            return kind, block, detail
        warp = kind, block, local // trace.WARP, detail
        self.times[thread, warp] += 1
        return *warp, self.times[thread, warp]

    def _flag(self, kind: int, thread: int, place: int) -> None:
        """Follow an access to a flag: what a poll learns, what a change of the flag carries."""
        address = int(self.log.address[place])
        block = thread // self.log.threads_per_block
        site = self.log.site[place]
        waiting = self.flags.waiting
        if kind in POLLING:
            needs_fence = READER in self.fences and waiting.polls[site]
            self._poll(self.carried.get(address, {}), thread, block, needs_fence)
        if kind in CHANGING and not waiting.conditions[site]:
            carried = self.carried.setdefault(address, {})
            self._set(carried, thread, block, kind)

    def _poll(self, carried: dict, thread: int, block: int, needs_fence: bool) -> None:
        for (scope, setter), clock in carried.items():
            same_block = setter == block
            if scope == trace.BLOCK and not same_block:
                continue  # a fence that only its own block waits for
            if needs_fence:
                _merge_clocks(self.unfenced, (thread, same_block), clock)
            else:
                self._learn(thread, clock)

    def _set(self, carried: dict, thread: int, block: int, kind: int) -> None:
        clock, scope = self.fenced.get(thread, (None, None))
        if WRITER not in self.fences:
            clock = self._end_segment(thread)
            scope = trace.DEVICE
        if kind != trace.ATOMIC:
            carried.clear()
        if clock is not None:
            reach = trace.BLOCK if scope == trace.BLOCK else trace.DEVICE
            _merge_clocks(carried, (reach, block), clock)


def _merge_clocks(clocks: dict, key: object, clock: np.ndarray) -> None:
    """Merge a clock into the one at that key."""
    if key in clocks:
        clock = np.maximum(clocks[key], clock)
    clocks[key] = clock
