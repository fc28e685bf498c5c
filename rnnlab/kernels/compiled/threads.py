"""Threads that each have one share of the work, and a BLAS of one thread.

A library's threads and ours, both as many as cores, would fight for the cores: BLAS's workers spin for work
for milliseconds after a product.  So while ours run, every BLAS in the process is limited to one thread, and
we split what BLAS would have split.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from threadpoolctl import LibController, ThreadpoolController

Task = Callable[[], object]
Share = tuple[int, int]  # first, and one past the last
COMPILED = "scipy.linalg.cython_blas"  # what compiled loops multiply with: it must be loaded to be limited


@cache
def _libraries(has_compiled: bool) -> tuple:
    """Handles of every BLAS that is loaded, COMPILED's among them or not yet."""
    return tuple(lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas")


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of a process; one that was forked has none of its parent's."""
    return ThreadPoolExecutor(max_workers=64, thread_name_prefix="rnnlab")


def count() -> int:
    """Number of threads that BLAS may use: OPENBLAS_NUM_THREADS, threadpoolctl, or the number of cores.

    In a thread that holds BLAS it is one; a limit that only other threads hold is not counted.
    """
    with _lock:
        return max(map(_threads_of, _libraries(COMPILED in sys.modules)), default=1)


@contextmanager
def single_threaded_blas(only: str = "") -> Iterator[None]:
    """Limit every BLAS to one thread; with `only`, those whose file's path contains it.

    The limit is one of the process: the first thread that holds a library sets it, and the last one restores
    the number of before, after an interrupt, too.
    """
    need = object()
    try:
        with _lock:
            for lib in _libraries(COMPILED in sys.modules):
                if only in lib.filepath:
                    _hold(lib, need)
        yield
    finally:
        with _lock:
            for hold in _holds.values():
                hold.threads.pop(need, None)
            _end_unused()


@dataclass
class Hold:
    """Needs for a library of one thread, by whose thread, and how many it had before the first of them."""

    lib: LibController
    before: int
    threads: dict[object, int]


_lock = threading.Lock()
_holds: dict[tuple, Hold] = {}


def _hold(lib: LibController, need: object) -> None:
    """Limit the library to one thread, as long as this need of the calling thread is not over."""
    hold = _holds.setdefault(_scope(lib), Hold(lib, lib.num_threads, {}))
    hold.threads[need] = threading.get_ident()
    _limit(lib, 1)


def _scope(lib: LibController) -> tuple:
    """The library, and the thread where a limit is one of the calling thread alone: OpenBLAS with OpenMP."""
    is_own = getattr(lib, "threading_layer", "") == "openmp"
    return lib.filepath, threading.get_ident() if is_own else 0


def _threads_of(lib: LibController) -> int:
    hold = _holds.get(_scope(lib))
    is_of_others = hold is not None and threading.get_ident() not in hold.threads.values()
    return hold.before if is_of_others else lib.num_threads


def _end_unused() -> None:
    """Restore the threads of libraries that nobody needs to have one; an interrupted call is made up for."""
    for scope, hold in [*_holds.items()]:
        if not hold.threads:
            _limit(hold.lib, hold.before)
            del _holds[scope]


def _limit(lib: LibController, number: int) -> None:
    """Set a library's number of threads, in any thread.

    threadpoolctl 3.8 lets one thread limit OpenBLAS, the first that did, and ignores others without a word.
    """
    forget = getattr(lib, "clear_controlling_thread", None)
    if forget:
        forget(force=True)
    lib.set_num_threads(number)
    if forget:
        forget(force=True)


def _release_after_fork() -> None:
    """In a forked process, end what threads of its parent held: none of them exists there."""
    own = threading.get_ident()
    for hold in _holds.values():
        hold.threads = {need: thread for need, thread in hold.threads.items() if thread == own}
    _end_unused()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_release_after_fork
    )


def together(tasks: Sequence[Task]) -> None:
    """Run all tasks at once, the first in this thread; returns when the last has ended."""
    others = [_pool(os.getpid()).submit(task) for task in tasks[1:]]
    try:
        tasks[0]()
    finally:
        for other in others:
            other.result()


def start(task: Callable, *arguments: object) -> None:
    """Run a task in another thread, on another core than this thread's, and wait for nothing.

    The system's scheduler leaves both on one core where all are busy, and each then waits for the other.
    """
    if not hasattr(os, "sched_setaffinity"):
        _pool(os.getpid()).submit(task, *arguments)
        return
    cores = os.sched_getaffinity(0)
    others = cores - {ctypes.CDLL(None).sched_getcpu()}
    _pool(os.getpid()).submit(_run_on, others or cores, task, *arguments)


def _run_on(cores: set[int], task: Callable, *arguments: object) -> None:
    """Run a task on these cores; the thread has its own back afterwards."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        task(*arguments)
    finally:
        os.sched_setaffinity(0, before)


def shares(total: int, parts: int) -> list[Share]:
    """`total` things in at most `parts` equal shares, none of them empty."""
    parts = max(1, min(parts, total))
    return list(pairwise(round(total * k / parts) for k in range(parts + 1)))
