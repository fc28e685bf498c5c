"""Threads that each have one share of the work, and a BLAS of one thread.

A library's threads and ours, both as many as cores, would fight for the cores: BLAS's workers spin for work
for milliseconds after a product.  So while ours run, every BLAS in the process is limited to one thread, and
we split what BLAS would have split.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise

import scipy.linalg.cython_blas  # noqa: F401  what compiled loops multiply with: it must be loaded to be limited
from threadpoolctl import ThreadpoolController

Task = Callable[[], object]
Share = tuple[int, int]  # first, and one past the last


@cache
def _libraries() -> tuple:
    """Handles of every BLAS that is loaded."""
    return tuple(lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas")


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of a process; one that was forked has none of its parent's."""
    return ThreadPoolExecutor(max_workers=64, thread_name_prefix="rnnlab")


def count() -> int:
    """Number of threads that BLAS may use: OPENBLAS_NUM_THREADS, threadpoolctl, or the number of cores."""
    return max((lib.num_threads for lib in _libraries()), default=1)


@contextmanager
def single_threaded_blas(only: str = "") -> Iterator[None]:
    """Limit every BLAS to one thread; with `only`, those whose file's path contains it."""
    limits = [(lib, lib.num_threads) for lib in _libraries() if only in lib.filepath]
    try:
        for lib, _ in limits:
            lib.set_num_threads(1)
        yield
    finally:
        for lib, before in limits:
            lib.set_num_threads(before)


def together(tasks: Sequence[Task]) -> None:
    """Run all tasks at once, the first in this thread; returns when the last has ended."""
    others = [_pool(os.getpid()).submit(task) for task in tasks[1:]]
    try:
        tasks[0]()
    finally:
        for other in others:
            other.result()


def shares(total: int, parts: int) -> list[Share]:
    """`total` things in at most `parts` equal shares, none of them empty."""
    parts = max(1, min(parts, total))
    edges = [round(total * k / parts) for k in range(parts + 1)]
    return list(pairwise(edges))
