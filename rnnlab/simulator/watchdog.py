"""A thread that waits by plain loads never gives way, and on a GPU may never look again: end it and say so.

    while flag[0] == 0: pass

Nothing in such a loop calls the scheduler.  So somebody else looks at the trace now and then: if the last
thousands of events are loads of a few elements, all in one thread's turn, that thread spins.
"""

import ctypes
import threading

from rnnlab.simulator.events import FIELDS, KINDS, LOAD, Trace

SECONDS = 1.5  # between two looks
EVENTS = 20_000  # of one turn that must be loads
PLACES = 64  # elements that may be looked at in turn


class Spinning(Exception):
    """Raised in a thread that will never stop looking."""


class Watchdog:
    """While the block runs, raise Spinning in it if its trace shows a thread that spins."""

    def __init__(self, trace: Trace | None):
        self.trace, self.thread, self.over = trace, threading.get_ident(), threading.Event()
        self.watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        if self.trace is not None:
            self.watcher.start()

    def __exit__(self, *raised: object) -> None:
        self.over.set()
        if self.trace is not None:
            self.watcher.join()

    def _watch(self) -> None:
        while not self.over.wait(SECONDS):
            if spins(self.trace):
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self.thread), ctypes.py_object(Spinning)
                )
                return


def spins(trace: Trace) -> bool:
    """Does the thread whose turn it is do nothing but load the same few elements?"""
    events = trace.events
    last = events[-EVENTS * FIELDS :]
    begun = trace.turns[-2] if trace.turns else 0
    if len(last) < EVENTS * FIELDS or len(events) - len(last) < begun:
        return False
    loads = all(tag % KINDS == LOAD for tag in last[::FIELDS])
    return loads and len({*zip(last[::FIELDS], map(str, last[1::FIELDS]), strict=True)}) <= PLACES
