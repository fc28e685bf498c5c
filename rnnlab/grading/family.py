"""All processes that come from one: found again wherever they went, counted, and ended together.

A process may leave its session, and its parent may die; it then belongs to the nearest ancestor that adopts
orphans. While a worker runs, the judge is that ancestor (on Linux), so nothing of it can get away.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
from collections import defaultdict

import psutil

from rnnlab.grading.clock import scheduled, waiting_of

ADOPT_ORPHANS = 36  # prctl's PR_SET_CHILD_SUBREAPER
MOMENT = 0.002  # seconds between two looks whether what was killed has ended
PATIENCE = 10.0  # seconds until processes that do not end are left alone


def adopt_orphans(yes: bool) -> None:
    """Make this process the parent of its descendants' orphans, or stop being it."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(ADOPT_ORPHANS, int(yes), 0, 0, 0)


class Family:
    """The descendants that this process gets from now on, its own earlier children left out.

    Whatever else this process starts meanwhile counts as one of them: start nothing while a worker runs.
    """

    def __init__(self, host: int | None = None) -> None:
        self.host = host  # the server that has forked the worker: only its descendants count
        self.earlier = set() if host else {child.pid for child in psutil.Process().children()}
        self.first: int | None = None  # the worker's pid: whoever started it reaps it

    def members(self) -> list[psutil.Process]:
        """Those alive now. One look at all processes: between two, an orphan changes its parent and is in
        neither."""
        if self.host is not None and (below := _descendants(self.host)) is not None:
            return below
        children: dict[int, list[psutil.Process]] = defaultdict(list)
        for process in psutil.process_iter(["ppid", "status"]):
            children[process.info["ppid"]].append(process)
        descendants = [child for child in children[self.host or os.getpid()] if child.pid not in self.earlier]
        for process in descendants:  # grows while it is gone through
            descendants += children[process.pid]
        return [process for process in descendants if process.info["status"] != psutil.STATUS_ZOMBIE]

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
        if self.host is not None:
            return self._end_namespaces()
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

    def _end_namespaces(self) -> bool:
        """Kill the first process of each namespace; the kernel ends all others in it."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            members = self.members()
            if not members:
                return True
            for member in members:
                with contextlib.suppress(psutil.Error):
                    member.kill()
            time.sleep(MOMENT)
        return False

    def _reap(self) -> None:
        """Let go of orphans that have ended."""
        for child in psutil.Process().children():
            if child.pid not in self.earlier and child.pid != self.first:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(child.pid, os.WNOHANG)


def own_seconds() -> float:
    """Seconds of the processor that this process has used itself."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _descendants(host: int) -> list[psutil.Process] | None:
    """The living descendants of a server, by the kernel's own lists; None where it keeps none.

    An orphan that changes its parent meanwhile may be missing once. It cannot get away: when the first
    process of its namespace is killed, the kernel ends all others.
    """
    descendants, waiting = [], [host]
    while waiting:
        parent = waiting.pop()
        try:
            with open(f"/proc/{parent}/task/{parent}/children") as file:
                children = [int(pid) for pid in file.read().split()]
        except FileNotFoundError:
            if not os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children"):
                return None
            continue  # it has ended
        waiting += children
        for child in children:
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(child)
                process.info = {"ppid": parent, "status": process.status()}
                descendants.append(process)
    return [process for process in descendants if process.info["status"] != psutil.STATUS_ZOMBIE]
