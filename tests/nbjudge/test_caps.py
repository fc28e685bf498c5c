"""The caps of one answer, held against the machine's own figures, for root and for an ordinary user.

A verdict alone would not show a cap that does not hold: an answer may take gigabytes and be judged right.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from attacks_table import attacks
from test_ordinary_user import mode_works, ordinary  # noqa: F401  a fixture

from nbjudge.running import control_group, sandbox
from nbjudge.running.family import Family

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
TESTS = Path(__file__).parents[1]
SPARE = 6  # processes of judge and bubblewrap
GIB = 1 << 30


def in_shared_memory():
    """Bytes of all files in memory of this machine, whoever may see them."""
    lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return int(lines["Shmem"].split()[0]) << 10


class Observed:
    """The most of each that was seen while a `with` lasted."""

    def __enter__(self):
        self.before, self.shared, self.processes = in_shared_memory(), 0, 0
        self.family = Family()
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._look)
        self.thread.start()
        return self

    def _look(self):
        while not self.is_over.wait(0.02):
            self.shared = max(self.shared, in_shared_memory() - self.before)
            self.processes = max(self.processes, len(self.family.members()))

    def __exit__(self, *exception):
        self.is_over.set()
        self.thread.join()


def root(*arguments):
    command = [sys.executable, "-P", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def has_group(run):
    """May this user make a control group? Without one the judge sees forks only when it looks."""
    program = "from nbjudge.running.control_group import is_possible; print(is_possible())"
    return run("-c", program).stdout.strip() == "True"


@linux
@pytest.mark.slow
@pytest.mark.parametrize("name", ["mounts_memory_of_its_own", "forks_from_a_thread"])
@pytest.mark.parametrize("user", ["who tests", "ordinary"])
def test_no_answer_holds_more_than_its_caps_by_the_machines_own_figures(user, name, ordinary):  # noqa: F811
    run = ordinary if user == "ordinary" else root
    if user == "ordinary":
        mode_works(ordinary, "bubblewrap")
    with Observed() as observed:
        done = run(TESTS / "attacks_table.py", name)
    (attack,) = [attack for attack in attacks() if attack.name == name]
    assert done.stdout.strip() == attack.deserves, done.stderr
    assert observed.shared < 3 * GIB  # without caps ten; other tests may hold some of it
    assert observed.processes <= (sandbox.TASKS if has_group(run) else 2 * sandbox.PROCESSES) + SPARE


@pytest.fixture
def groups():
    """Control groups of this machine, where they may be made."""
    if not control_group.is_possible():
        pytest.skip("no control group may be made here: it needs version 2, and root or a session of systemd")
    return control_group


def run_in(group, program):
    """Exit status and output of a Python program that starts once it is in the group, which then ends."""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        group.take([process.pid])
        shown, _ = process.communicate(b"x", timeout=600)
    group.end()
    return process.returncode, shown


@linux
def test_a_control_group_ends_what_takes_more_than_its_limit(groups):
    group = groups.make(memory=64 << 20, tasks=100)
    program = "import sys; sys.stdin.read(1); print(len(b'x' * (200 << 20)))"
    assert run_in(group, program) == (-9, b"")
    assert not group.folder.exists()


@linux
def test_a_control_group_starts_no_more_tasks_than_its_limit(groups):
    group = groups.make(memory=GIB, tasks=5)
    program = (
        "import os, sys, time\n"
        "sys.stdin.read(1)\n"
        "started = 0\n"
        "try:\n"
        "    for _ in range(20):\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(2); os._exit(0)\n"
        "        started += 1\n"
        "except OSError:\n"
        "    pass\n"
        "print(started)\n"
    )
    assert int(run_in(group, program)[1]) == 4


@linux
def test_a_group_is_used_again_once_its_processes_have_ended(groups):
    limits = GIB, 50
    first = groups.borrow(*limits)
    folder = first.folder
    groups.give_back(first, *limits)
    second = groups.borrow(*limits)
    assert second.folder == folder
    with subprocess.Popen(["sleep", "60"]) as process:
        second.take([process.pid])
        groups.give_back(second, *limits)
        third = groups.borrow(*limits)
        assert third.folder != folder
        process.kill()
    second.end()
    third.end()
    assert not folder.exists()


MOUNTINFO = "30 20 0:26 / {top} rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"


@pytest.fixture
def second_version(tmp_path, monkeypatch):
    """A tree of version 2 as files: the judge in user/session, which hands on nothing, below user, which
    does."""
    own = tmp_path / "user" / "session"
    own.mkdir(parents=True)
    (tmp_path / "mountinfo").write_text(MOUNTINFO.format(top=tmp_path))
    (tmp_path / "cgroup").write_text("0::/user/session\n")
    (own / "cgroup.subtree_control").write_text("\n")
    (own.parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    monkeypatch.setattr(control_group, "MOUNTS", tmp_path / "mountinfo")
    monkeypatch.setattr(control_group, "OWN", tmp_path / "cgroup")
    return own


def test_a_group_of_version_2_lies_beside_the_judges_own_with_both_limits(second_version):
    group = control_group.make(memory=12345, tasks=67)
    folder = group.folder
    assert folder.parent == second_version.parent
    assert ((folder / "memory.max").read_text(), (folder / "pids.max").read_text()) == ("12345", "67")
    group.take([os.getpid()])
    assert (folder / "cgroup.procs").read_text() == str(os.getpid())


def test_no_group_is_made_where_none_may_hand_memory_on(second_version):
    (second_version.parent / "cgroup.subtree_control").write_text("cpu\n")
    assert control_group.make(1, 1) is None


def test_groups_of_killed_judges_are_removed(second_version):
    left = second_version.parent / "nbjudge-999999999-1"
    left.mkdir()
    control_group.make(1, 1)
    assert not left.exists()
