"""Did one access certainly happen before another?  Vector clocks over a trace (Fidge 1988, Mattern 1989).

Every thread counts its own segments, which end where it publishes what it has done: at a barrier, where its
warp synchronises, at a fence.  A flag carries what was published at the last fence of the thread that set it,
or at the last fence of any thread with which it has synchronised since.  Set without a fence it carries
nothing, because then its write may arrive before those that it announces.

A thread that waits for a flag in a loop may use what the flag carries behind a fence of its own: without one
it may read what its cache has kept from before.  What a while looks at, it only looks at: an atomic there
sets no flag.
"""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from rnnlab.simulator.trace import (
    ATOMIC,
    BARRIER,
    BLOCK,
    DEVICE,
    FENCE,
    GRID_SYNC,
    STORE,
    VOLATILE_LOAD,
    VOLATILE_STORE,
    WARP,
    WARP_SYNC,
    Accesses,
    Columns,
)

WRITER, READER = "writer", "reader"
WRITER_AND_READER, WRITER_ONLY = frozenset({WRITER, READER}), frozenset({WRITER})  # whose fences are needed


class Flags(NamedTuple):
    """Addresses through which threads synchronise, and where the program does so."""

    addresses: set[int]
    waited: set[int]  # of these, those that a loop waits for
    waits: np.ndarray  # [sites] in the condition of a while
    polls: np.ndarray  # [sites] in a loop that waits
    fenced: np.ndarray  # [accesses] the thread has a fence behind it


def ordered_pairs(
    columns: Columns, log: Accesses, flags: Flags, pairs: list[tuple[int, int]], fences: frozenset
) -> set[tuple[int, int]]:
    """Those pairs of accesses, earlier first, that are certainly ordered if only these fences are needed."""
    return Replay(columns, log, flags, pairs, fences).ordered


class Replay:
    """What each thread knows of some others, followed through the trace."""

    def __init__(self, columns: Columns, log: Accesses, flags: Flags, pairs, fences: frozenset):
        self.columns, self.log, self.flags, self.fences = columns, log, flags, fences
        watched = sorted({int(log.thread[first]) for first, _ in pairs})
        self.column_of = {thread: k for k, thread in enumerate(watched)}
        self.known = np.zeros((int(columns.thread.max()) + 1, len(watched)), np.int64)
        self.segment = np.zeros(len(self.known), np.int64)
        self.fenced = {}  # thread -> (clock at its last fence, how far that reached)
        self.unfenced = {}  # (thread, same block) -> clock of flags that it has seen since its last fence
        self.meetings, self.published, self.seen_by = {}, {}, {}  # clocks of threads at a barrier
        self.pending, self.times = {}, defaultdict(int)
        self.carried = {}  # address -> {(scope, block): clock}
        self.segment_at, self.firsts = {}, defaultdict(list)
        for first, second in pairs:
            self.segment_at[first] = 0
            self.firsts[second].append(first)
        self.ordered = set()
        self._replay()

    def _replay(self) -> None:
        log, places = self.log, {*self.segment_at, *self.firsts}
        interesting = np.isin(self.columns.kind, (FENCE, BARRIER, WARP_SYNC, GRID_SYNC))
        flagged = np.isin(log.address, list(self.flags.addresses)) if self.flags.addresses else []
        chosen = {*np.flatnonzero(flagged).tolist(), *places}
        place_of = {int(log.when[place]): place for place in chosen}
        interesting[[*place_of]] = True
        for event in np.flatnonzero(interesting).tolist():
            thread = int(self.columns.thread[event])
            self._enter(thread)
            place = place_of.get(event)
            if place is None:
                self._synchronise(int(self.columns.kind[event]), thread, self.columns.detail[event])
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
        """A thread that goes on after a barrier knows what all knew who came to it."""
        if thread not in self.pending:
            return
        key = self.pending.pop(thread)
        np.maximum(self.known[thread], self.meetings[key], out=self.known[thread])
        if key in self.published:
            own, scope = self.fenced.get(thread, (None, BLOCK))
            clock = self.published[key] if scope == BLOCK else np.maximum(own, self.published[key])
            self.fenced[thread] = clock, DEVICE
        for same_block, clock in self.seen_by.get(key, {}).items():
            _join(self.unfenced, (thread, same_block), clock)

    def _end_segment(self, thread: int) -> np.ndarray:
        """What the thread has done so far, and knew: its clock, to be handed on."""
        self.segment[thread] += 1
        if thread in self.column_of:
            self.known[thread, self.column_of[thread]] = self.segment[thread]
        return self.known[thread].copy()

    def _synchronise(self, kind: int, thread: int, detail: object) -> None:
        if kind == FENCE:
            for same_block in (True, False) if detail != BLOCK else (True,):
                clock = self.unfenced.pop((thread, same_block), 0)
                np.maximum(self.known[thread], clock, out=self.known[thread])
            self.fenced[thread] = self._end_segment(thread), detail
            return
        clock, block = self._end_segment(thread), thread // self.log.threads_per_block
        if kind == WARP_SYNC:
            group = (kind, block, thread % self.log.threads_per_block // WARP, detail)
            self.times[thread, group] += 1
            key = (*group, self.times[thread, group])
        else:
            key = (kind, block if kind == BARRIER else 0, detail)
        _join(self.meetings, key, clock)
        fenced, scope = self.fenced.get(thread, (None, BLOCK))
        if scope != BLOCK:
            _join(self.published, key, fenced)
        for same_block in (True, False):
            if (thread, same_block) in self.unfenced:
                _join(self.seen_by.setdefault(key, {}), same_block, self.unfenced[thread, same_block])
        self.pending[thread] = key

    def _flag(self, kind: int, thread: int, place: int) -> None:
        address, block = int(self.log.address[place]), thread // self.log.threads_per_block
        site = self.log.site[place]
        if kind in (ATOMIC, VOLATILE_LOAD):
            for setter, clock in self.carried.get(address, {}).items():
                if setter[0] == BLOCK and setter[1] != block:
                    continue  # a fence that only its own block waits for
                if READER in self.fences and self.flags.polls[site]:
                    _join(self.unfenced, (thread, setter[1] == block), clock)
                else:
                    np.maximum(self.known[thread], clock, out=self.known[thread])
        if kind in (ATOMIC, STORE, VOLATILE_STORE) and not self.flags.waits[site]:
            clock, scope = self.fenced.get(thread, (None, None))
            if WRITER not in self.fences:
                clock, scope = self._end_segment(thread), DEVICE
            carried = self.carried.setdefault(address, {})
            if kind != ATOMIC:
                carried.clear()
            if clock is not None:
                _join(carried, (BLOCK if scope == BLOCK else DEVICE, block), clock)


def _join(clocks: dict, key: object, clock: np.ndarray) -> None:
    """Let the clock at that key know what this one knows."""
    clocks[key] = np.maximum(clocks[key], clock) if key in clocks else clock
