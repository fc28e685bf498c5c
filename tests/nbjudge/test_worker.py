"""The process of an answer seen from its judge: when it is ready, and which time is its own."""

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest

from nbjudge import clock
from nbjudge.grading.in_process import InProcess
from nbjudge.running import family, sandbox, worker
from nbjudge.running.conversation import out_of_time
from nbjudge.running.learner_answer import of_source
from nbjudge.running.worker import Worker
from nbjudge.verdict import Status, Stopped

PLAIN = sandbox.choose(plain=True)
SLEEP = of_source("rest", "import time\ndef rest(seconds):\n    time.sleep(seconds)\n    return seconds\n")
BURN = "import time\nwhile time.process_time() < 0.2:\n    pass\n"


def test_a_process_that_was_ready_before_its_judge_looked_is_used(monkeypatch):
    launch = Worker._launch

    def launch_and_wait(self, *arguments):
        launch(self, *arguments)
        assert select.select([self.answering], [], [], 60)[0]

    monkeypatch.setattr(Worker, "_launch", launch_and_wait)
    monkeypatch.setattr(worker, "START", 5.0)
    with Worker(SLEEP, 20.0, PLAIN) as rest:
        assert rest(0.0) == 0.0


class Killed:
    """A process that was killed and takes five seconds to give its memory back."""

    pid, left = -1, 5

    def wait(self, seconds):
        self.left -= seconds
        if self.left > 0:
            raise subprocess.TimeoutExpired("python", seconds)
        return -signal.SIGKILL


@pytest.mark.parametrize(("bytes_left", "status"), [(0, Status.memory), (1 << 20, Status.crashed)])
def test_a_process_that_was_killed_has_time_to_end_and_one_without_pipes_lives_on(bytes_left, status):
    member = SimpleNamespace(pid=-1, info={"ppid": 0}, memory_info=lambda: SimpleNamespace(vms=bytes_left))
    judged = Worker(SLEEP, 1.0, PLAIN)
    judged.process, judged.family = Killed(), SimpleNamespace(members=lambda: [member])
    assert judged._ended().status is status


SPIN = of_source("spin", "def spin():\n    while True:\n        pass\n")


def wait_for_a_core(monkeypatch):
    monkeypatch.setattr(family.Family, "waiting", lambda self: 100.0)


def wait_for_a_disk(monkeypatch):
    monkeypatch.setattr(family.Family, "waiting", lambda self: 0.0)
    monkeypatch.setattr(worker, "waits_for_disk", lambda members: True)


@pytest.mark.parametrize("wait", [wait_for_a_core, wait_for_a_disk])
def test_time_that_the_machine_takes_is_not_the_answers_and_an_answer_kept_waiting_is_not_judged(
    monkeypatch, wait
):
    wait(monkeypatch)
    with Worker(SLEEP, 0.4, PLAIN) as rest:
        assert rest(0.6) == 0.6
    with Worker(SLEEP, 0.1, PLAIN) as rest, pytest.raises(Stopped) as stopped:
        rest(100.0)  # however long it waits, it gets ten times its limit at most
    assert (stopped.value.status, stopped.value.proven) == (Status.grader_error, False)


def test_an_answer_that_used_its_seconds_of_a_core_is_out_of_time_on_a_busy_machine_too(monkeypatch):
    monkeypatch.setattr(family.Family, "waiting", lambda self: 100.0)
    with Worker(SPIN, 0.1, replace(PLAIN, patience=19)) as spin, pytest.raises(Stopped) as stopped:
        spin()
    assert stopped.value.status is Status.timeout


@pytest.mark.parametrize(("waited", "status"), [(0.0, Status.timeout), (100.0, Status.grader_error)])
def test_a_notebook_tells_an_answer_out_of_time_from_one_without_a_core(monkeypatch, waited, status):
    counts = iter([0.0])
    monkeypatch.setattr(clock, "waiting_of", lambda pid: next(counts, waited))
    with pytest.raises(Stopped) as stopped:
        InProcess(time.sleep, "rest", seconds=0.1)(100.0)
    assert stopped.value.status is status


def test_a_sentence_on_time_asleep_is_the_same_in_two_runs_and_another_than_on_an_endless_loop():
    asleep, again, endless = (out_of_time("rest", 20.0, ran, False) for ran in (0.25, 0.26, 20.0))
    assert asleep.message == again.message != endless.message
    assert asleep.status is endless.status is Status.timeout


def test_a_process_that_the_disk_holds_up_is_told_from_one_that_waits_for_its_own_child():
    def process(pid, parent, status):
        return SimpleNamespace(pid=pid, info={"ppid": parent, "status": status})

    stuck, asleep = process(2, 1, psutil.STATUS_DISK_SLEEP), process(3, 2, psutil.STATUS_SLEEPING)
    assert family.waits_for_disk([stuck])
    assert not family.waits_for_disk([stuck, asleep])
    assert not family.waits_for_disk([asleep])


def test_time_asleep_is_the_answers(monkeypatch):
    monkeypatch.setattr(worker, "waiting_of", lambda pid: 0.0)
    monkeypatch.setattr(family.Family, "waiting", lambda self: 0.0)
    with Worker(SLEEP, 0.5, PLAIN) as rest, pytest.raises(Stopped, match="did not come to an end"):
        rest(100.0)


@pytest.mark.parametrize("waited", [0.0, 60.0])
def test_the_judges_own_limit_grants_the_time_without_a_core(monkeypatch, waited):
    counts = iter([0.0])
    monkeypatch.setattr(clock, "waiting_of", lambda pid: next(counts, waited))
    ends = pytest.raises(clock.Overtime) if not waited else nullcontext()
    with ends, clock.limited(0.5):
        time.sleep(0.7)
    with pytest.raises(clock.Overtime), clock.limited(0.1):
        time.sleep(100.0)  # four times its limit at most


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="the kernel does not count waiting")
def test_two_processes_on_one_core_wait_for_each_other():
    core = {min(os.sched_getaffinity(0))}
    program = f"import os, sys\nos.sched_setaffinity(0, {core})\n{BURN}print(flush=True)\nsys.stdin.read()\n"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    both = [subprocess.Popen([sys.executable, "-c", program], **pipes) for _ in range(2)]
    for process in both:
        process.stdout.readline()
    assert max(clock.waiting_of(process.pid) for process in both) > 0.01
    for process in both:
        process.communicate()
