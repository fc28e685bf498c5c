"""Were we alone?  How much of the cores' time other programs used while something was measured."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress

import psutil

IDLE = ("idle", "iowait")


class Watch:
    """A `with` block; afterwards `others` is their part of all cores' time, 0 to 1."""

    def __init__(self, ours: Iterable[int]):
        self.ours = [*_running(os.getpid(), *ours)]
        self.others = 0.0

    def __enter__(self) -> "Watch":
        self.begun, self.before = time.monotonic(), self._foreign()
        return self

    def __exit__(self, *exception: object) -> None:
        elapsed = time.monotonic() - self.begun
        used = (self._foreign() - self.before) / (elapsed * (os.cpu_count() or 1))
        self.others = min(1.0, max(0.0, used))

    def _foreign(self) -> float:
        """Seconds of work on all cores since the computer started, less those of our own processes."""
        busy = sum(seconds for kind, seconds in _core_seconds() if kind not in IDLE)
        return busy - sum(_seconds(process) for process in self.ours)


def _running(*pids: int) -> Iterable[psutil.Process]:
    """The processes that have not ended: a contestant may have died before its turn."""
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            yield psutil.Process(pid)


def _core_seconds() -> Iterable[tuple[str, float]]:
    times = psutil.cpu_times()._asdict()
    # Linux counts a guest's time a second time, under user and nice
    return [(kind, seconds) for kind, seconds in times.items() if not kind.startswith("guest")]


def _seconds(process: psutil.Process) -> float:
    """Seconds of processor time; none of a process that is gone, whose past then counts as foreign."""
    try:
        return sum(process.cpu_times()[:2])
    except psutil.Error:
        return 0.0
