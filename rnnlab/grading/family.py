"""All processes that come from one: found again wherever they went, counted, and ended together.

A process may leave its session, and its parent may die; it then belongs to the nearest ancestor that asks for orphans.
While a worker runs, the judge is that ancestor (on Linux), so nothing of it can get away.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time

import psutil

ADOPT_ORPHANS = 36  # prctl's PR_SET_CHILD_SUBREAPER
PATIENCE = 10.0  # seconds until processes that do not end are left alone


def adopt_orphans(yes: bool) -> None:
    """Make this process the parent of its descendants' orphans, or stop being it."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(ADOPT_ORPHANS, int(yes), 0, 0, 0)


class Family:
    """The descendants that this process gets from now on, its own earlier children left out.

    Whatever else this process starts meanwhile counts as one of them: start nothing while a worker runs.
    """

    def __init__(self) -> None:
        self.earlier = {child.pid for child in psutil.Process().children()}
        self.first: int | None = None  # the worker's pid: whoever started it reaps it

    def members(self) -> list[psutil.Process]:
        """Those alive now."""
        found: list[psutil.Process] = []
        for child in psutil.Process().children():
            if child.pid not in self.earlier:
                with contextlib.suppress(psutil.Error):
                    found += [child, *child.children(recursive=True)]
        return [each for each in found if _alive(each)]

    def end(self) -> bool:
        """Kill every member; False if some are still there after a while. They are stopped first: none may fork on."""
        until = time.monotonic() + PATIENCE
        while members := self.members():
            if time.monotonic() > until:
                return False
            for action in (signal.SIGSTOP, signal.SIGKILL):
                for each in members:
                    with contextlib.suppress(psutil.Error, ProcessLookupError):
                        each.send_signal(action)
            self._reap()
        self._reap()
        return True

    def _reap(self) -> None:
        """Let go of orphans that have ended."""
        for child in psutil.Process().children():
            if child.pid not in self.earlier and child.pid != self.first:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(child.pid, os.WNOHANG)


def _alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
