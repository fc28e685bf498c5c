"""A limit on the judge's own time: a check that hangs costs its exercise, not the whole grade."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
    previous = signal.signal(signal.SIGALRM, _ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _ring(number: int, frame: FrameType | None) -> None:
    raise Overtime
