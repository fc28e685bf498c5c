"""Limits on time that a busy machine does not use up: what waited for a core is not counted (on Linux).

A limit on the judge's own time, too: a check that hangs costs its exercise, not the whole grade.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

PATIENCE = 3  # times a limit: the most that is granted for waiting for a core
BACKSTOP = 9  # the same for an answer: it must get the seconds of a core that its exercise allows
SHARE = 0.1  # of a limit: a shorter wait for a core that was not granted has starved nobody
AGAIN = 1.0  # seconds until it rings once more, where whatever ran has swallowed the first


class Overtime(BaseException):
    """The judge took too long. Not an Exception, so that `except Exception` in a check cannot swallow it."""


@dataclass
class Limit:
    """A limit on time, and what was found when it was over."""

    starved: bool = False  # other programs had the cores
    ran: float = 0.0  # seconds of the processor


@contextmanager
def limited(seconds: float, patience: float = PATIENCE) -> Iterator[Limit]:
    """Raise Overtime in what runs here once so many seconds have passed.

    Only the main thread can be interrupted; another thread runs without a limit.
    """
    limit = Limit()
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield limit
        return
    begin = time.monotonic()
    before = waiting_of(os.getpid())
    used = time.process_time()

    def ring(number, frame):
        waited = waiting_of(os.getpid()) - before
        granted = min(waited, patience * seconds)
        left = seconds + granted - (time.monotonic() - begin)
        if left <= 0:
            limit.ran = time.process_time() - used
            limit.starved = is_starved(limit.ran, waited - granted, seconds)
            raise Overtime
        signal.setitimer(signal.ITIMER_REAL, left, AGAIN)

    previous = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        yield limit
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def is_starved(ran: float, waited: float, seconds: float) -> bool:
    """Whether a process whose time is over never got the seconds of a core that its limit allows.

    ran: its seconds of the processor.  waited: its seconds without a core for which no time was granted.
    """
    return ran < seconds and waited > SHARE * seconds


def waiting_of(pid: int) -> float:
    """Seconds that a process has been ready and had no core; 0 where the kernel does not count them."""
    return max((waited for _, waited in scheduled(pid)), default=0.0)


def scheduled(pid: int) -> list[tuple[float, float]]:
    """Seconds that each living thread has run, and waited for a core; empty where the kernel counts none."""
    counts = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                ran, waited, _ = file.read().split()
                counts.append((int(ran) / 1e9, int(waited) / 1e9))
    return counts
