"""Did one access certainly happen before another?  Vector clocks over a trace (Fidge 1988, Mattern 1989).

Every thread counts its own segments, which end where it publishes what it has done: at a barrier, at a
meeting of its warp, at a fence.  A flag carries the clock of the last fence of whoever set it, to whoever
looks at it; set without a fence it carries nothing, because then its write may arrive before those that it
announces. What a while looks at, it only looks at: an atomic there sets no flag.
"""

from collections import defaultdict

import numpy as np

from rnnlab.simulator.accesses import Accesses
from rnnlab.simulator.events import (
    ATOMIC,
    BARRIER,
    BLOCK,
    FENCE,
    GRID_SYNC,
    STORE,
    VOLATILE_LOAD,
    VOLATILE_STORE,
    WARP_SYNC,
    Columns,
)
from rnnlab.simulator.threads import WARP


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
