"""The two roofs of this machine, measured: how fast it multiplies, and how fast it moves numbers.

The roofline model (Williams, Waterman, Patterson 2009): a computation of so many FLOP per byte runs no faster
than min(peak, intensity · bandwidth).
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rnnlab.resources import caches, usable_cores
from rnnlab.timings import Timing, disturbance, load_of_a_core

SIZES = (512, 1024, 1536)  # of square float32 products: large enough for the BLAS to reach its rate
STREAM_MB = 128  # per array, at least


@dataclass(frozen=True)
class Roofline:
    """Peak in GFLOP/s (float32 products), bandwidth in GB/s (10⁹ bytes), as measured on this machine."""

    peak: float
    bandwidth: float
    disturbed: str = ""  # a sentence, empty if no other program was noticed

    @property
    def balance(self) -> float:
        """FLOP per byte at which the two roofs cross."""
        return self.peak / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """Highest rate in GFLOP/s at `intensity` FLOP per byte."""
        return min(self.peak, intensity * self.bandwidth)


def measure(seconds: float = 1.5) -> Roofline:
    """Both roofs, best of several runs each, within about `seconds`.

    No size follows one whose product outlasts its share of the time: NumPy in a browser multiplies without
    a BLAS, and would need minutes for the largest.
    """
    budget = seconds / (len(SIZES) + 1)
    rates = []
    before = load_of_a_core()
    for n in SIZES:
        rates.append(gemm_rate(n, n, n, budget))
        if 2e-9 * n**3 / rates[-1] > budget:
            break
    moved = bandwidth(budget)
    load = max(before, load_of_a_core())
    return Roofline(max(rates), moved, disturbance({"roofs": Timing((1.0, 1.0), load)}))


def gemm_rate(m: int, n: int, k: int, seconds: float = 0.5) -> float:
    """GFLOP/s of the fastest product of [m,k] and [k,n] seen within `seconds`, after one to warm up."""
    rng = np.random.default_rng(0)
    a = rng.random((m, k), "float32")
    b = rng.random((k, n), "float32")
    product = np.empty((m, n), "float32")
    best = _best_time(lambda: np.matmul(a, b, out=product), seconds)
    return 2e-9 * m * n * k / best


def bandwidth(seconds: float = 0.5, megabytes: int | None = None) -> float:
    """GB/s of a ← b + c on all cores at once, over arrays that, by default, no cache holds.

    Four numbers move for each sum: two are read, one is written, and what lies at its place is read before.
    """
    cores = usable_cores()
    n = (megabytes * 10**6 if megabytes else _too_large()) // 8
    ends = [n * core // cores for core in range(cores + 1)]
    cuts = [slice(*pair) for pair in pairwise(ends)]
    a, b, c = (np.empty(n) for _ in range(3))

    def fill(cut):
        b[cut] = 1
        c[cut] = 1

    def add(cut):
        np.add(b[cut], c[cut], out=a[cut])

    with _threads(cores) as on_all:  # NumPy adds on one core: one slice for each, first touched there
        on_all(fill, cuts)
        best = _best_time(lambda: on_all(add, cuts), seconds)
    return 4e-9 * 8 * n / best


@contextmanager
def _threads(cores: int) -> Iterator[Callable]:
    """A `map` that is complete when it returns, on as many threads; on this one where one is enough."""
    if cores == 1:  # a browser starts no thread at all
        yield lambda work, parts: [work(part) for part in parts]
        return
    with ThreadPoolExecutor(cores) as pool:
        yield lambda work, parts: [*pool.map(work, parts)]


def _too_large() -> int:
    """Bytes of an array of which no cache holds three."""
    return max(STREAM_MB * 10**6, caches().get("L3", 0) // 2)


def _best_time(run: Callable[[], object], seconds: float) -> float:
    """Seconds of the fastest run: other work on the machine can only slow one down."""
    run()
    best = float("inf")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best
