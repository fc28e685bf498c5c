"""All processes that come from one: found again wherever they went, counted, and ended together.

A process may leave its session, and its parent may die; it then belongs to the nearest ancestor that adopts
orphans. While a worker runs, the judge is that ancestor (on Linux), so nothing of it can get away.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator

import psutil

from nbjudge.clock import scheduled, waiting_of

ADOPT_ORPHANS = 36  # prctl's PR_SET_CHILD_SUBREAPER
PATIENCE = 10.0  # seconds until processes that do not end are left alone
STATES = {b"D": psutil.STATUS_DISK_SLEEP, b"T": psutil.STATUS_STOPPED, b"Z": psutil.STATUS_ZOMBIE}  # proc(5)


def adopt_orphans(yes: bool) -> None:
    """Make this process the parent of its descendants' orphans, or stop being it."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(ADOPT_ORPHANS, int(yes), 0, 0, 0)


def waits_for_disk(members: list[psutil.Process]) -> bool:
    """Whether a disk holds a member up; the system calls a parent that waits for its vfork the same."""
    parents = {member.info["ppid"] for member in members}
    sleepers = {member.pid for member in members if member.info["status"] == psutil.STATUS_DISK_SLEEP}
    return bool(sleepers - parents)


def _processes() -> Iterator[tuple[int, int, str]]:
    """(pid, parent's pid, psutil's word for its status) of every process."""
    if sys.platform != "linux":
        for process in psutil.process_iter(["ppid", "status"]):
            yield process.pid, process.info["ppid"], process.info["status"]
        return
    for name in filter(str.isdecimal, os.listdir("/proc")):  # psutil asks ten times as much of each
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            state, parent = file.read().rpartition(b")")[2].split(None, 2)[:2]
            yield int(name), int(parent), STATES.get(state, "")


class Family:
    """The descendants that this process gets from now on, its own earlier children left out.

    Whatever else this process starts meanwhile counts as one of them: start nothing while a worker runs.
    """

    def __init__(self) -> None:
        self.earlier = {child.pid for child in psutil.Process().children()}
        self.first: int | None = None  # the worker's pid: whoever started it reaps it

    def members(self) -> list[psutil.Process]:
        """Those alive now. One look at all processes: between two, an orphan changes its parent and is in
        neither."""
        children = defaultdict(list)
        for row in _processes():
            children[row[1]].append(row)
        descendants = [row for row in children[os.getpid()] if row[0] not in self.earlier]
        for pid, _, _ in descendants:  # grows while it is gone through
            descendants += children[pid]
        members = []
        for pid, parent, status in descendants:
            with contextlib.suppress(psutil.NoSuchProcess):
                if status != psutil.STATUS_ZOMBIE:
                    member = psutil.Process(pid)
                    member.info = {"ppid": parent, "status": status}
                    members.append(member)
        return members

    def seconds(self) -> float:
        """Seconds of the processor that the members have used so far."""
        total = 0.0
        for member in self.members():
            with contextlib.suppress(psutil.Error):
                times = member.cpu_times()
                ran = sum(ran for ran, _ in scheduled(member.pid))
                total += max(ran, times.user + times.system)
                total += times.children_user + times.children_system
        return total

    def waiting(self) -> float:
        """Seconds that the member which waited longest has waited for a core."""
        return max(map(waiting_of, (member.pid for member in self.members())), default=0.0)

    def end(self) -> bool:
        """Kill every member; False if some are still there after a while. They are stopped first: none may
        fork on."""
        until = time.monotonic() + PATIENCE
        looks_without = 0
        while looks_without < 2 and time.monotonic() < until:
            members = self.members()
            looks_without = 0 if members else looks_without + 1
            for action in (signal.SIGSTOP, signal.SIGKILL):
                for member in members:
                    with contextlib.suppress(psutil.Error):
                        member.send_signal(action)
            self._reap()
        return looks_without == 2

    def _reap(self) -> None:
        """Let go of orphans that have ended."""
        for child in psutil.Process().children():
            if child.pid not in self.earlier and child.pid != self.first:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(child.pid, os.WNOHANG)
