"""Teams of threads and the barrier at which their members wait for one another."""

import contextlib
import gc
import multiprocessing
import os
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np
import pytest

pytest.importorskip("numba", reason="install Numba: pip install --constraint constraints.txt numba")

from rnnlab.kernels.packed import team
from rnnlab.kernels.packed.barrier import wait


def test_nobody_passes_a_barrier_before_all_have_come():
    members, rounds = 4, 20  # more members than this machine may have cores
    counter, arrived = np.zeros(1, "int64"), [0] * members

    def member(k):
        for turn in range(1, rounds + 1):
            arrived[k] = turn
            wait(counter, members)
            assert min(arrived) >= turn

    with ThreadPoolExecutor(members) as pool:
        list(pool.map(member, range(members)))
    assert counter[0] == members * rounds


def test_a_team_binds_its_members_and_gives_the_cores_back():
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("this system cannot bind a thread to a core")
    before, seen = os.sched_getaffinity(0), {}
    team.run(lambda k: seen.setdefault(k, (threading.get_ident(), os.sched_getaffinity(0))), 3)
    assert sorted(seen) == [0, 1, 2]
    assert len({thread for thread, _ in seen.values()}) >= 2
    if len(before) > 1:
        assert all(len(cores) == 1 for _, cores in seen.values())
        assert seen[0][1] != seen[1][1]
    assert os.sched_getaffinity(0) == before


def test_an_error_in_any_member_arrives_and_the_next_team_works():
    for culprit in (0, 1):
        with pytest.raises(ZeroDivisionError):
            team.run(lambda k, culprit=culprit: 1 / (k - culprit), 2)
    done = []
    team.run(done.append, 2)
    assert sorted(done) == [0, 1]


def test_a_team_that_has_ended_holds_nothing_of_its_task():
    class Arrays:
        def fail(self, member):
            if member:
                raise MemoryError

    for task_name in ("fail", "__eq__"):  # one that raises, one that does not
        arrays = Arrays()
        gone, task = weakref.ref(arrays), getattr(arrays, task_name)
        with contextlib.suppress(MemoryError):
            team.run(task, 3)
        del arrays, task
        gc.collect()
        assert gone() is None


@pytest.mark.parametrize(("blas", "cores", "count"), [(8, 2, 2), (1, 4, 1), (2, 1, 1), (4, 4, 4)])
def test_a_team_has_no_more_members_than_the_process_may_use(blas, cores, count, monkeypatch):
    monkeypatch.setattr(team.threads, "count", lambda: blas)
    monkeypatch.setattr(team, "usable_cores", lambda: cores)  # 1 in a container of half a core
    assert team.count() == count


def test_an_interrupt_before_the_own_part_lets_the_others_through_their_barriers(monkeypatch):
    counter = np.zeros(1, "int64")
    interrupted = lambda task, member, cores: task(member) if member else 1 / 0
    monkeypatch.setattr(team, "_run_on_a_core", interrupted)
    with pytest.raises(ZeroDivisionError):
        team.run(lambda member: [wait(counter, 3) for _ in range(4)], 3, counter)
    monkeypatch.undo()
    done = []
    team.run(done.append, 3)  # nobody waits any more
    assert sorted(done) == [0, 1, 2]


class Interrupted(SimpleQueue):
    """A queue whose first reader is interrupted."""

    interrupts = 0

    def get(self, *arguments, **options):
        self.interrupts += 1
        if self.interrupts == 1 and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        return super().get(*arguments, **options)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no system call binds a thread here")
def test_an_interrupt_while_it_waits_for_the_others_leaves_a_thread_all_its_cores(monkeypatch):
    before = os.sched_getaffinity(0)
    monkeypatch.setattr(team, "SimpleQueue", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        team.run(lambda member: None, 2)
    assert os.sched_getaffinity(0) == before


def test_a_second_interrupt_leaves_nobody_at_a_barrier(monkeypatch):
    counter = np.zeros(1, "int64")
    interrupted = lambda task, member, cores: task(member) if member else 1 / 0
    monkeypatch.setattr(team, "_run_on_a_core", interrupted)
    monkeypatch.setattr(team, "SimpleQueue", Interrupted)
    ends = []
    with pytest.raises(ZeroDivisionError):
        team.run(lambda member: ends.append(wait(counter, 3)), 3, counter)
    assert len(ends) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_forked_while_a_team_runs_has_a_team_of_its_own():
    runs, is_over = threading.Event(), threading.Event()

    def hold(member):
        runs.set()
        is_over.wait(0.2)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(team.run, hold, 2)
        assert runs.wait(10)
        child = multiprocessing.get_context("fork").Process(target=team.run, args=(time.sleep, 2))
        child.start()
        child.join(20)
        is_over.set()
        running.result(10)
    is_right = child.exitcode == 0
    child.kill()
    assert is_right
