"""A control group for one answer: the kernel counts the memory and the tasks of all its processes together,
wherever they lie, where the judge's own looks (memory.py, family.py) have to find them.

Version 2 of the kernel's interface alone. It needs a folder that the judge may make: as root, or as an
ordinary user where the system has handed on a part, as systemd does. Where none may be made, the judge
watches alone. It watches in both cases: its verdicts name the limit, and a group only ends what is beyond it.
"""

import atexit
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
OWN = Path("/proc/self/cgroup")
UNIFIED = "0::"  # begins the line of version 2
PREFIX = "nbjudge"
PATIENCE = 1.0  # seconds until a group whose processes were killed can be removed
_numbers = count(1)
_idle: dict[tuple[int, int], "ControlGroup"] = {}  # by their limits


@dataclass(frozen=True)
class ControlGroup:
    """The folder of one group, in which the kernel has files."""

    folder: Path

    def take(self, pids: Sequence[int]) -> None:
        """Move processes into the group; what they start from now on belongs to it."""
        for pid in pids:
            with suppress(ProcessLookupError):
                (self.folder / "cgroup.procs").write_text(str(pid))

    def is_empty(self) -> bool:
        """Have all its processes ended, at once or after a while?"""
        return _is_soon(lambda: not _text(self.folder / "cgroup.procs").strip())

    def end(self) -> None:
        """Remove the group, whose processes have ended or are ending."""
        _is_soon(lambda: _is_removed(self.folder))


def make(memory: int, tasks: int) -> ControlGroup | None:
    """A new group with so many bytes and tasks at most; None where none may be made."""
    for place in _places():
        for folder in _abandoned(place):
            _is_removed(folder)
        folder = place / f"{PREFIX}-{os.getpid()}-{next(_numbers)}"
        try:
            folder.mkdir()
            (folder / "memory.max").write_text(str(memory))
            (folder / "pids.max").write_text(str(tasks))
        except OSError:
            _is_removed(folder)
            continue
        with suppress(OSError):
            (folder / "memory.swap.max").write_text("0")  # where the machine has swap
        return ControlGroup(folder)
    return None


def borrow(memory: int, tasks: int) -> ControlGroup | None:
    """An idle group with these limits, or a new one: the kernel keeps a part of each
    that is removed, and a class has thousands of answers."""
    return _idle.pop((memory, tasks), None) or make(memory, tasks)


def give_back(group: ControlGroup, memory: int, tasks: int) -> None:
    """Keep a group for the next answer if all of the last one's processes have ended."""
    if (memory, tasks) not in _idle and group.is_empty():
        _idle[memory, tasks] = group
    else:
        group.end()


@atexit.register
def _end_idle() -> None:
    for key in [*_idle]:
        _idle.pop(key).end()


@cache
def is_possible() -> bool:
    """May a group be made here, and a limit be set? Tried once."""
    group = make(1 << 30, 100)
    if group is not None:
        group.end()
    return group is not None


def _places() -> list[Path]:
    """Groups that hand both resources on to those made in them: the judge's own, or the one above, as one
    with processes in it mostly hands on none."""
    try:
        mounts = [line.split() for line in MOUNTS.read_text().splitlines()]
        own = next(line for line in OWN.read_text().splitlines() if line.startswith(UNIFIED))
    except (OSError, StopIteration):
        return []
    places = []
    for fields in mounts:
        if fields[fields.index("-") + 1] == "cgroup2":
            top = Path(re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), fields[4]))
            group = top / own.removeprefix(UNIFIED).lstrip("/")
            places += [place for place in (group, group.parent) if place.is_relative_to(top)]
    wanted = {"memory", "pids"}
    return [place for place in places if wanted <= {*_text(place / "cgroup.subtree_control").split()}]


def _abandoned(place: Path) -> Iterator[Path]:
    """Groups of judges that were killed."""
    for folder in place.glob(f"{PREFIX}-*-*"):
        pid = folder.name.split("-")[1]
        if pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            yield folder


def _is_soon(condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def _is_removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
