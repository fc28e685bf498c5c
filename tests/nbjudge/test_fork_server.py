"""Forked workers keep answers apart as programs of their own do, and a server that dies is replaced."""

import re
import shutil
import signal
import threading
import time
from contextlib import suppress
from dataclasses import replace

import attacks_table as attacks
import numpy as np
import psutil
import pytest

from nbjudge.classroom.judge_process import Accounts
from nbjudge.running import fork_server, sandbox
from nbjudge.running.worker import NotStarted, Worker, of_source
from nbjudge.verdict import Stopped

LEAVE_TRACES = """
import os
def look(word):
    seen = []
    for folder in ("/tmp", "/dev/shm", "/dev/pts"):
        try:
            seen.append(sorted(os.listdir(folder)))
            with open(folder + "/left", "w") as file:
                file.write(word)
        except OSError as error:
            seen.append(type(error).__name__)
    return seen
"""
STATUS = """
def look(field):
    with open("/proc/self/status") as file:
        return [line.split()[1] for line in file if line.startswith(field + ":")]
"""
UNMOUNT = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def look(folder):
    alone = libc.umount2(folder.encode(), 2)
    entered = libc.unshare(0x10020000)
    return [alone, entered, libc.umount2(folder.encode(), 2)]
"""
KILL_ALL = """
import ctypes
def look(number):
    libc = ctypes.CDLL(None)
    for process in (0, -1, *range(1, 100)):
        libc.kill(process, number)
    return 1
"""
SAMPLE = (  # attacks on what a fork shares with its server, and each way in which a process may end
    "aborts",
    "closes_every_descriptor",
    "exits_at_once",
    "forks_through_ctypes",
    "frees_foreign_memory",
    "leaves_a_process_behind",
    "loops_for_ever_and_ignores_signals",
    "stops_itself_through_ctypes",
    "reads_the_memory_of_its_judge",
    "takes_the_answer_that_another_left",
    "takes_memory_in_many_processes",
)


@pytest.fixture(scope="module")
def forked():
    """The sandbox with forked workers, and its servers."""
    box = sandbox.choose()
    if box.why:
        pytest.skip(f"{box.why}: install bubblewrap")
    forked, servers = fork_server.forking(box)
    if servers is None:
        pytest.skip("this system allows no namespaces within namespaces")
    yield forked, servers
    servers.end()


def answer_of(box, source, argument, seconds=5):
    with Worker(of_source("look", source), seconds, box) as worker:
        return worker(argument)


def test_a_fork_computes_what_a_program_would(forked):
    source = "import numpy as np\ndef look(x):\n    return np.linalg.solve(x @ x.T + np.eye(3), x)\n"
    x = np.random.default_rng(0).standard_normal((3, 3))
    results = [answer_of(box, source, x) for box in (forked[0], sandbox.choose())]
    np.testing.assert_array_equal(*results)


def test_no_file_of_one_answer_is_there_for_the_next(forked):
    seen = [answer_of(forked[0], LEAVE_TRACES, word) for word in ("one", "two")]
    assert seen == [[[], [], [], "OSError"]] * 2, "two folders to write to, both empty; one read-only"


def test_an_answer_has_no_rights_and_cannot_uncover_what_was_hidden(forked):
    box = forked[0]
    for field in ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb"):
        assert answer_of(box, STATUS, field) == ["0" * 16]
    assert answer_of(box, STATUS, "NoNewPrivs") == ["1"]
    for folder in ("/tmp", "/dev/shm", "/proc"):
        alone, _, in_own_namespace = answer_of(box, UNMOUNT, folder)
        assert (alone, in_own_namespace) == (-1, -1)


def test_signals_reach_nothing_outside_the_namespace(forked):
    box, servers = forked
    answer_of(box, STATUS, "Pid")
    server = servers.servers[False].program.pid
    for number in (signal.SIGKILL, signal.SIGSTOP):
        with pytest.raises(Stopped):
            answer_of(box, KILL_ALL, int(number), seconds=1)
    assert answer_of(box, STATUS, "NoNewPrivs") == ["1"]
    assert servers.servers[False].program.pid == server, "the same server has forked them all"


def test_random_numbers_differ_from_one_fork_to_the_next(forked):
    source = (
        "import random, numpy as np\ndef look(n):\n    return [random.random(), float(np.random.rand())]\n"
    )
    draws = [answer_of(forked[0], source, 1) for _ in range(3)]
    assert len({number for draw in draws for number in draw}) == 6


CHILDREN_OF_A_THREAD = """
import ctypes, threading, time
libc = ctypes.CDLL(None)
def look(count):
    def fork():
        for _ in range(count):
            if libc.fork() == 0:
                time.sleep(60)
        time.sleep(60)
    threading.Thread(target=fork, daemon=True).start()
    time.sleep(60)
"""


@pytest.mark.parametrize("way", ["program", "forked"])
def test_children_of_another_thread_count_as_processes_of_the_answer(way, forked):
    box = forked[0] if way == "forked" else sandbox.choose()
    with pytest.raises(Stopped) as stopped:
        answer_of(box, CHILDREN_OF_A_THREAD, sandbox.PROCESSES + 5, seconds=20)
    assert stopped.value.status == "forbidden"


@pytest.mark.parametrize("name", SAMPLE)
def test_an_attack_on_a_fork_gets_what_it_gets_on_a_program(name, forked):
    (attack,) = [attack for attack in attacks.attacks() if attack.name == name]
    with attacks.places() as known:
        assert attacks.perform(attack, forked[0], known) == attack.outcomes["bubblewrap"]


@pytest.mark.slow
def test_every_attack_on_a_fork_gets_what_it_gets_on_a_program(forked):
    with attacks.places() as known:
        for attack in attacks.attacks():
            assert attacks.perform(attack, forked[0], known) == attack.outcomes["bubblewrap"], attack.name


@pytest.mark.parametrize("end", ["return seconds", "os._exit(3)"], ids=["returns", "ends its process"])
def test_the_time_of_an_answer_is_the_answers_however_it_ends(end):
    source = f"""
import os, time
def burn(seconds):
    while time.process_time() < seconds:
        pass
    {end}
"""
    accounts = Accounts(*fork_server.choose())
    accounts.end()
    accounts.begin()
    with suppress(Stopped), Worker(of_source("burn", source), 20.0, accounts.box) as burn:
        burn(0.5)
    spent = accounts.end()
    if accounts.servers is not None:
        accounts.servers.end()
        assert 0.3 < spent["answers"] < 0.8  # seconds of a core, however busy it is
        assert spent["starting"] < 0.3


def test_a_server_counts_the_time_of_an_answer_that_its_judge_ends(forked):
    box, servers = forked
    burn = """
import time
def look(seconds):
    while time.process_time() < seconds:
        pass
"""
    answer_of(box, STATUS, "Pid")
    before = servers.seconds()
    answer_of(box, burn, 0.3)
    assert 0.25 < servers.seconds() - before < 1.0  # seconds of a core, however busy it is


def test_a_server_that_was_killed_is_replaced(forked):
    box, servers = forked
    answer_of(box, STATUS, "Pid")
    first = servers.servers[False].program
    first.kill()
    first.wait()
    assert answer_of(box, STATUS, "NoNewPrivs") == ["1"]
    assert servers.servers[False].program is not first


def test_a_server_that_dies_while_an_answer_runs_costs_that_answer_only(forked):
    box, servers = forked
    answer_of(box, STATUS, "Pid")
    server = servers.servers[False].program
    threading.Timer(0.3, server.kill).start()
    with pytest.raises(Stopped):
        answer_of(box, "import time\ndef look(x):\n    time.sleep(100)\n", 1)
    assert answer_of(box, STATUS, "NoNewPrivs") == ["1"]


def test_a_server_that_does_not_start_is_no_verdict_on_the_answer(forked):
    def refuse(*arguments):
        raise OSError("no more processes")

    with pytest.raises(NotStarted, match="no more processes"):
        answer_of(replace(forked[0], fork=refuse), STATUS, "Pid")


def test_servers_end_with_all_that_they_have_forked():
    box = sandbox.choose()
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    _, servers = fork_server.forking(box)
    if servers is not None:
        servers.end()
    until = time.monotonic() + 10
    while {child.pid for child in psutil.Process().children(recursive=True)} - before:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_machine_whose_system_calls_have_other_numbers_gets_programs(tmp_path, monkeypatch):
    box = sandbox.choose()
    if box.why:
        pytest.skip(f"{box.why}: install bubblewrap")
    shutil.copytree(sandbox.INSIDE, tmp_path / "inside", ignore=shutil.ignore_patterns("__pycache__"))
    server = tmp_path / "inside" / "fork_server.py"
    text, count = re.subn(r"system_calls.CLONE", "{}", server.read_text(encoding="utf-8"))
    assert count == 1
    server.write_text(text, encoding="utf-8")
    monkeypatch.setattr(sandbox, "INSIDE", tmp_path / "inside")
    assert fork_server.forking(box) == (box, None)
    assert answer_of(box, "def look(x):\n    return x + 1\n", 1) == 2


def test_plain_mode_has_no_server():
    box = sandbox.choose(plain=True)
    assert fork_server.forking(box) == (box, None)
