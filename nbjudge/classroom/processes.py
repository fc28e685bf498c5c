"""A process for each thread, so that any `map` over threads computes in processes.

`ThreadPoolExecutor(2).map` computes on two cores of this machine, `Client(address).get_executor().map` on the
workers of a Dask cluster, and `map` itself one thing after another.
"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager

import psutil

from nbjudge.course import current
from nbjudge.finding.notebook_file import Unusable
from nbjudge.remedies import pip_install
from nbjudge.running.family import Family
from nbjudge.running.sandbox import CHECKOUT, MEMORY

TRIES = 2  # processes that one call may lose
RARELY = 100_000, 50, 50  # objects and rounds until garbage is collected: a tenth of the time of a grade else
HOLDS = MEMORY + (512 << 20)  # bytes for an answer at its limit and the process that judges it
PATIENCE = 20  # seconds for a scheduler to answer, and for its first worker

# an entry for each time that this process was stopped and continued, as a batch system does
stops: list[int] = []
_thread = threading.local()


class Lost(Exception):
    """A call has ended each process in which it ran."""


def apart(function: Callable, argument: object) -> object:
    """function(argument) in this thread's own process, which its later calls share.

    Raises Lost where the process is killed, and a second one, too.
    """
    for _ in range(TRIES):
        if not hasattr(_thread, "pool"):
            if sys.path[0] != str(CHECKOUT):  # which the command line forgets where it was given there
                sys.path.insert(0, str(CHECKOUT))
            _thread.pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _begin)
            if hasattr(_thread, "pools"):
                _thread.pools.enter_context(_thread.pool)
        try:
            return _thread.pool.submit(function, argument).result()
        except BrokenProcessPool:
            del _thread.pool
    raise Lost


def _begin() -> None:
    gc.set_threshold(*RARELY)
    signal.signal(signal.SIGCONT, lambda number, frame: stops.append(number))
    threading.Thread(target=_end_with_parent, args=[Family()], daemon=True).start()


def _end_with_parent(family: Family) -> None:
    """End this process, and what it has started, once the process that calls it is gone, perhaps killed."""
    multiprocessing.parent_process().join()
    family.end()
    os._exit(0)


def most() -> int:
    """Processes that this machine, or its part for this process, has cores and memory for."""
    room = min(psutil.virtual_memory().available, current().memory_limit())
    return max(1, min(current().usable_cores(), int(room // HOLDS)))


@contextmanager
def here(count: int) -> Iterator[Callable]:
    """The `map` of so many threads of this machine.

    Their processes end with it: a pool that is still ending when Python does may write into a closed pipe.
    """
    with ExitStack() as pools:
        own = _thread, "pools", pools
        with ThreadPoolExecutor(count, initializer=setattr, initargs=own) as threads:
            yield threads.map


@contextmanager
def on_cluster(address: str) -> Iterator[Callable]:
    """The `map` of a Dask cluster, by the address of its scheduler. Raises Unusable if the cluster fails."""
    try:
        from distributed import Client
    except ImportError:
        raise Unusable(f"--scheduler needs Dask: {pip_install('distributed')}") from None
    try:
        with Client(address, timeout=PATIENCE) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
            yield client.get_executor(pure=False).map
    except Unusable:
        raise
    except Exception as error:
        raise Unusable(
            f"the Dask cluster at {address} failed ({type(error).__name__}: {error}). What was graded is "
            "kept: repair the cluster, then continue with --resume."
        ) from error
