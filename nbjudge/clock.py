"""Limits on time that a busy machine does not use up: what waited for a core is not counted (on Linux).

A limit on the judge's own time, too: a check that hangs costs its exercise, not the whole grade.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

PATIENCE = 3  # times a limit: the most that is granted for waiting for a core
AGAIN = 1.0  # seconds until it rings once more, where whatever ran has swallowed the first


class Overtime(BaseException):
    """The judge took too long. No Exception: a check that catches those must not go on."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Overtime in what runs here once so many seconds have passed.

    Only the main thread can be interrupted; in another one there is no limit.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    begin, before = time.monotonic(), waiting_of(os.getpid())

    def ring(number: int, frame: FrameType | None) -> None:
        granted = min(waiting_of(os.getpid()) - before, PATIENCE * seconds)
        left = seconds + granted - (time.monotonic() - begin)
        if left <= 0:
            raise Overtime
        signal.setitimer(signal.ITIMER_REAL, left, AGAIN)

    previous = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


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
