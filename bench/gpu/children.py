"""A task's process, from outside: started, watched, ended when its time is over."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from rnncourse.lab.apart import describe_end

ROOT = Path(__file__).resolve().parents[2]
CHILD = (sys.executable, "-m", "bench.gpu.child")
LAST_LINES = 15  # of what a process printed
FAREWELL = 5.0  # seconds in which the pipes of a killed process must close


@dataclass
class Outcome:
    """How a process ended, and the messages that it had sent until then."""

    fields: dict = field(default_factory=dict)
    at: str = ""  # the contestant at work when it ended, if one was
    reason: str = ""  # why it did not finish; empty if it did
    is_late: bool = False  # is the reason that its whole time was over, not a contestant's fault
    printed: list[str] = field(default_factory=list)  # its last lines that are not messages


@dataclass(frozen=True)
class Limits:
    """Seconds: for the whole task, and without any message."""

    total: float
    quiet: float = 60.0


def run_task(
    task: Mapping,
    limits: Limits,
    show: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Run the task in a process of its own."""
    process = subprocess.Popen(
        CHILD,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
        start_new_session=True,  # so that one signal ends it with all that it started
    )
    outcome = Outcome()
    lines = queue.SimpleQueue()
    printed = deque(maxlen=LAST_LINES)
    readers = [
        threading.Thread(target=_read, args=(process.stdout, lines.put, None), daemon=True),
        threading.Thread(target=_read, args=(process.stderr, printed.append, ""), daemon=True),
    ]
    for reader in readers:
        reader.start()
    reason = "interrupted"
    try:
        _write_task(process.stdin, task)
        reason = _read_messages(lines, outcome, limits, show)
    finally:
        _end_process(process, FAREWELL if not reason else 0)
    for reader in readers:
        reader.join(FAREWELL)
    outcome.printed = [*outcome.printed, *filter(None, printed)]
    outcome.reason = outcome.reason or reason or _status(process.returncode, outcome)
    outcome.fields.pop("done", None)
    return outcome


def environment() -> dict[str, str]:
    """This process's, with the project on the path: it may not be installed."""
    path = [*filter(None, [os.environ.get("PYTHONPATH")]), str(ROOT)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(path), "PYTHONUNBUFFERED": "1"}


def _write_task(pipe: IO[bytes], task: Mapping) -> None:
    try:
        pipe.write(json.dumps(task).encode())
        pipe.close()
    except BrokenPipeError:
        return  # it ended before it read: its status says so


def _read(pipe: IO[bytes], keep: Callable[[str | None], object], last: str | None) -> None:
    """Every line of the pipe, then `last`."""
    with pipe:
        for line in pipe:
            keep(line.decode(errors="replace").rstrip("\n"))
    keep(last)


def _read_messages(
    lines: queue.SimpleQueue, outcome: Outcome, limits: Limits, show: Callable[[str], None]
) -> str:
    """Take messages until the pipe closes; why the process must be ended, if it must."""
    end = time.monotonic() + limits.total
    while True:
        left = end - time.monotonic()
        try:
            line = lines.get(timeout=max(0.0, min(left, limits.quiet)))
        except queue.Empty:
            outcome.is_late = left <= limits.quiet
            if outcome.is_late:
                return f"it was not done within {limits.total:.0f} s"
            return f"it said nothing for {limits.quiet:.0f} s"
        if line is None:
            return ""
        _apply_message(line, outcome, show)


def _apply_message(line: str, outcome: Outcome, show: Callable[[str], None]) -> None:
    message = _message(line)
    if message is None:  # a debugger's line, or half a line of a process that was killed
        outcome.printed.append(line)
        return
    if "at" in message:
        outcome.at = message["at"]
        show(f"{message['at']}: {message.get('phase', '')}".removeprefix(": "))
    outcome.fields |= message.get("fields", {})
    if "failed" in message:
        outcome.reason = message["failed"]
        outcome.at = outcome.at if message.get("broken") else ""
    if message.get("done"):
        outcome.at = ""
        outcome.fields["done"] = True


def _message(line: str) -> dict | None:
    """The message in a line; None if the line is something else."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    types = {"at": str, "phase": str, "failed": str, "fields": dict}
    is_message = isinstance(message, dict) and all(
        isinstance(message[key], kind) for key, kind in types.items() if key in message
    )
    return message if is_message else None


def _end_process(process: subprocess.Popen, patience: float) -> None:
    """Let it end by itself for so many seconds, then kill whatever is left of its process group."""
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        pass  # it is killed below
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # all of it has ended already
    process.wait()


def _status(status: int, outcome: Outcome) -> str:
    """Why it ended too early, from its exit status; empty where it finished."""
    if outcome.fields.get("done"):
        return ""
    return f"its process {describe_end(status)}"
