"""A team: one thread a core, each bound to its own.

Two threads that wait for each other in a barrier must run at once; the system's scheduler now and then puts
both on one core, and the rate halves.  So each member is bound to a core of those that the process may use.
The calling thread is a member too, and has its cores back after the call.  The others stay where they are:
after a rest a call with 0.13 ms of work took 0.7 ms when they were bound anew each time, 0.5 ms since.  One
team runs at a time: members of two teams that wait for a thread each would wait forever.
"""

import os
import threading
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue

from rnnlab.kernels.compiled import threads
from rnnlab.resources import usable_cores

Task = Callable[[int], object]
_one_at_a_time = threading.Lock()


def count() -> int:
    """Members of a full team: the threads that BLAS may use, but no more than cores that the process may."""
    return max(1, min(threads.count(), usable_cores()))


def run(task: Task, members: int) -> None:
    """Run task(member) for all members at once, member 0 in this thread.  Raises what a member raises."""
    if members < 2:
        task(0)
        return
    with _one_at_a_time:
        cores = _allowed_cores()
        errors = SimpleQueue()
        for member in range(1, members):
            _tasks(os.getpid(), member).put((task, member, cores, errors))
        try:
            _run_on_a_core(task, 0, cores)
        finally:
            outcomes = [errors.get() for _ in range(1, members)]  # they write into the caller's arrays
            if cores:
                os.sched_setaffinity(0, cores)
        for error in filter(None, outcomes):
            raise error


def _run_on_a_core(task: Task, member: int, cores: list[int]) -> None:
    """task(member) on the member's core, to which its thread stays bound."""
    if cores and os.sched_getaffinity(0) != (own := {cores[member % len(cores)]}):
        os.sched_setaffinity(0, own)
    task(member)


def _allowed_cores() -> list[int]:
    """Cores that this thread may run on; empty where the system cannot bind a thread to one."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []


@cache
def _tasks(process: int, member: int) -> SimpleQueue:
    """The queue that another member's thread reads; a process that was forked has threads of its own.

    An executor's futures took 0.1 ms of a training step of 8 ms.
    """
    tasks = SimpleQueue()
    threading.Thread(target=_serve, args=(tasks,), name=f"rnnlab-team-{member}", daemon=True).start()
    return tasks


def _serve(tasks: SimpleQueue) -> None:
    """Run each task and report what it raised, or None.  Between two tasks the caller's arrays are free."""
    while True:
        task, member, cores, errors = tasks.get()
        error = None
        try:
            _run_on_a_core(task, member, cores)
        except BaseException as raised:
            error = raised
        del task
        errors.put(error)
        del error, errors
