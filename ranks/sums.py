"""Sums over all ranks that run in the background, while this rank computes.

`MpiSums.start(name, array)` begins a non-blocking all-reduce and returns at once; `finish()` waits until all
of them are complete.  Every rank must start the same sums in the same order.

MPI moves a message only while the process is inside a call of MPI.  If the main thread computes for 50 ms,
a sum that it started stands still.  So a thread calls MPI every millisecond, which moves the messages; NumPy
releases Python's lock during a product, so the thread can run.  Times are seconds of time.perf_counter.
"""

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mpi4py import MPI

from ranks.all_reduce import Interval

PROGRESS_INTERVAL = 1e-3  # seconds between two tests of the pending sums
SPIN = 1e-3  # seconds of tests without a pause
NAP = 5e-5  # then the pause between two tests


@dataclass(eq=False)
class Pending:
    """A sum that was started."""

    name: str
    ready: float
    start: float
    request: Any  # None: not begun
    array: np.ndarray  # MPI writes to it until the sum is complete


@dataclass
class MpiSums:
    """Background sums over the ranks of an MPI communicator.

    background: False leaves every sum to `finish`, one after another: overlap is measured against that.
    """

    comm: Any
    background: bool = True
    pending: list[Pending] = field(default_factory=list)
    intervals: list[Interval] = field(default_factory=list)

    def __post_init__(self):
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._failure = None
        if self.background and self.comm.Get_size() > 1:
            threading.Thread(target=self._progress_loop, name="sums of ranks", daemon=True).start()

    def start(self, name: str, array: np.ndarray) -> None:
        """Begin to replace array [n], contiguous, by its sum over all ranks."""
        with self._lock:
            now = time.perf_counter()
            request = self.comm.Iallreduce(MPI.IN_PLACE, array) if self.background else None
            self.pending.append(Pending(name, now, now, request, array))

    def finish(self) -> list[Interval]:
        """Wait for all sums; their intervals.  Raises MPI.Exception if a rank is lost (see survive)."""
        with self._lock:
            if self._failure is not None:
                raise self._failure
            for sum_ in self.pending:
                if sum_.request is None:
                    sum_.start = time.perf_counter()
                    sum_.request = self.comm.Iallreduce(MPI.IN_PLACE, sum_.array)
                wait(sum_.request)
                self._complete(sum_)
            self.pending = []
            intervals = self.intervals
            self.intervals = []
            return intervals

    def stop(self) -> None:
        """End the thread; sums that were not finished are abandoned."""
        self._stopped.set()

    def _progress_loop(self) -> None:
        while not self._stopped.wait(PROGRESS_INTERVAL):
            with self._lock:
                self._test()

    def _test(self) -> None:
        """Test all pending sums, which lets MPI progress; an error is raised later, in the main thread."""
        try:
            finished = [sum_ for sum_ in self.pending if sum_.request.Test()]
        except MPI.Exception as error:
            self._failure = error
            self.pending = []
            return
        for sum_ in finished:
            self.pending.remove(sum_)
            self._complete(sum_)

    def _complete(self, sum_: Pending) -> None:
        moments = sum_.ready, sum_.start, time.perf_counter()
        self.intervals.append(Interval(sum_.name, sum_.array.nbytes, *moments))


def wait(request: Any) -> None:
    """Wait for an operation of MPI.  Raises MPI.Exception if it fails.

    MPI's own Wait never leaves the processor: where other programs want it too, the rank has used up its time
    when the message comes, and a step took seconds instead of milliseconds.
    """
    begin = time.perf_counter()
    while not request.Test():
        if time.perf_counter() - begin > SPIN:
            time.sleep(NAP)
