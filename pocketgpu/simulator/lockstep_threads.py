"""Threads of a chunk that run together, and what their names stand for.

A name keeps its value with the threads that had it when it was set; only where the value is used is it cut to
the threads that run there, or merged of the parts that several branches gave it.  Threads that leave a loop
are computed on as long as they are few: cutting all names in each round would take longer.
"""

import ast
import functools
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from pocketgpu.simulator.lockstep_events import Chunk
from pocketgpu.simulator.lockstep_values import MANY, Fallback, cut, merged
from pocketgpu.simulator.trace import WARP

FULL_ENOUGH = 0.75  # a part of the threads that are computed, which still run
PATIENCE = 0.1  # of the time that one thread may run, for few threads
MANY_THREADS = 2560  # for which a loop that may be endless gets all of that time
MOST_NODES = 1 << 12  # of texts, of which something is known
Entry = tuple[object, np.ndarray]  # a value, and the threads that have it
Names = dict[object, Entry]
Part = tuple[np.ndarray, Names]  # threads, and their names


class Parts(tuple):
    """Parts of the threads, and the value that a name has in each."""


@functools.lru_cache(MOST_NODES)
def stored_in(node: ast.AST) -> list[str]:
    """Names that a statement may set."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    return [*dict.fromkeys(part.id for part in names if isinstance(part.ctx, ast.Store))]


class Threads:
    """Those that run now, and their names."""

    def __init__(self, chunk: Chunk, places: np.ndarray):
        self.chunk = chunk
        self.places = places  # [n] of the threads in the chunk, ascending
        self.running: np.ndarray | None = None  # [n] which of them really run; None: all
        self.names: Names = {}

    def set(self, name: object, value: object) -> None:
        """Give a name this value in the running threads."""
        self.names[name] = value, self.places

    def get(self, name: object) -> object:
        """The value of a name in the running threads."""
        value, places = entry = self.names[name]
        if places is not self.places or type(value) is Parts:
            value = self._value_in(self.places, entry)
            self.set(name, value)
        return value

    def _value_in(self, places: np.ndarray, entry: Entry) -> object:
        """The value in these threads: only here it is cut to them, and merged of parts."""
        value, known = entry
        if type(value) is Parts:
            parts = [(self.chunk.within(part, known), self._value_in(part, one)) for part, one in value]
            value = merged(len(known), parts)
        is_whole = len(places) == len(known) or type(value) not in (*MANY, tuple)
        return value if is_whole else cut(value, self.chunk.within(places, known))

    @contextmanager
    def only(self, mask: np.ndarray) -> Iterator[None]:
        """The threads of the mask [n] run, with names of their own."""
        outer = self.places, self.names, self.running
        self.names = dict(self.names)
        self.running = mask if self.running is None else mask & self.running
        self.settle()
        yield
        self.places, self.names, self.running = outer

    def settle(self) -> None:
        """Leave out the threads that no longer run."""
        if self.running is not None and not self.running.all():
            self.places = self.chunk.chosen(self.places, self.running)
        self.running = None

    def leave(self, parts: list[Part]) -> None:
        """Let the running threads stop here."""
        self.settle()
        if len(self.places):
            parts.append((self.places, self.names))
        self.places = self.places[:0]

    def drop(self, mask: np.ndarray) -> None:
        """Let the threads of the mask [n] stop here; as long as they are few, their places are kept."""
        self.running = ~mask if self.running is None else self.running & ~mask
        if np.count_nonzero(self.running) < FULL_ENOUGH * len(mask):
            self.settle()

    def join(self, parts: list[Part], node: ast.stmt) -> None:
        """Let threads that ran this statement, among those that run now, run together from here."""
        self.running = None
        if len(parts) == 1:
            self.places, names = parts[0]
            self.names |= names
            return
        if sum(len(places) for places, _ in parts) < len(self.places):
            self.places = np.sort(np.concatenate([self.places[:0], *(places for places, _ in parts)]))
        for name in stored_in(node):
            entries = Parts((places, names[name]) for places, names in parts if name in names)
            if entries:
                self.names[name] = entries, self.places


class Loop:
    """A loop, threads that left it, threads that wait for its next round, and how long that may take."""

    def __init__(self, node: ast.For | ast.While, seconds: float):
        self.node = node
        self.left: list[Part] = []
        self.waiting: list[Part] = []
        self.seconds = seconds  # that many threads may run without one of them leaving
        self.latest = 0.0  # end of that time
        self.threads = 0  # at its begin
        self.state: list = [None]  # what an earlier round may have changed

    def begin_round(self, threads: int) -> None:
        """Raise Fallback if for long no thread has left."""
        now = time.process_time()
        if threads != self.threads:
            self.threads = threads
            may_wait = isinstance(self.node, ast.While) or threads < WARP
            share = threads / MANY_THREADS if may_wait else 1
            self.latest = now + self.seconds * min(1, max(share, PATIENCE))
        if now > self.latest:
            raise Fallback("a loop that runs for long")

    def check_change(self, state: list, is_second: bool) -> None:
        """Raise Fallback if the second of two rounds has changed nothing."""
        if is_second and all(map(np.array_equal, self.state, state)):
            raise Fallback("a loop that waits")
        self.state = state
