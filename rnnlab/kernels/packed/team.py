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
from contextlib import suppress
from functools import cache
from queue import Empty, SimpleQueue

import numpy as np

from rnnlab.kernels.compiled import threads
from rnnlab.resources import usable_cores

Task = Callable[[int], object]
PATIENCE = 1e-3  # seconds after which a member that may wait for one that never came is let through
NO_BARRIER = np.zeros(1, "int64")
_one_at_a_time = threading.Lock()
if hasattr(os, "register_at_fork"):  # else a process forked while a team runs would wait for its end forever
    os.register_at_fork(
        before=_one_at_a_time.acquire,
        after_in_parent=_one_at_a_time.release,
        after_in_child=_one_at_a_time.release,
    )


def count() -> int:
    """Members of a full team: the threads that BLAS may use, but no more than cores that the process may."""
    return max(1, min(threads.count(), usable_cores()))


def run(task: Task, members: int, arrivals: np.ndarray = NO_BARRIER) -> None:
    """Run task(member) for all members at once, member 0 in this thread.  Raises what a member raises.

    arrivals: the counter of the task's barrier, if it has one.  An interrupt may keep this thread from its
    own part; the others then pass the barrier without it, and their results have no meaning.
    """
    if members < 2:
        task(0)
        return
    with _one_at_a_time:
        # empty where the system cannot bind a thread to a core
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
        errors = SimpleQueue()
        begun = []
        try:
            queues = [_tasks(os.getpid(), member) for member in range(1, members)]
            # one call: no interrupt comes between two tasks
            begun.extend(map(SimpleQueue.put, queues, [(task, k, cores, errors) for k in range(1, members)]))
            _run_on_a_core(task, 0, cores)
        finally:
            if cores:
                os.sched_setaffinity(0, cores)
            outcomes = _outcomes(len(begun), errors, members, arrivals)
        for error in filter(None, outcomes):
            raise error


def _outcomes(
    begun: int, errors: SimpleQueue, members: int, arrivals: np.ndarray
) -> list[BaseException | None]:
    """What members raised, after their end: until then they write into the caller's arrays.

    An interrupt meanwhile comes last: whoever left now might leave a member that waits at a barrier forever.
    """
    outcomes, interrupts = [], []
    while len(outcomes) < begun:
        try:
            outcomes.extend(map(errors.get, [True], [PATIENCE]))  # one call: an interrupt loses none
        except Empty:
            arrivals += members
        except KeyboardInterrupt as interrupt:
            interrupts.append(interrupt)
    return outcomes + interrupts


def _run_on_a_core(task: Task, member: int, cores: list[int]) -> None:
    """task(member) on the member's core, to which its thread stays bound, if it is still allowed there."""
    if cores and os.sched_getaffinity(0) != (own := {cores[member % len(cores)]}):
        with suppress(OSError):
            os.sched_setaffinity(0, own)
    task(member)


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
