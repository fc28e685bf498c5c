"""A control group for one answer: the kernel counts the memory and the tasks of all its processes together,
wherever they lie, where the judge's own looks (memory.py, family.py) have to find them.

It needs a folder of the kernel's that the judge may make: as root nearly everywhere, as an ordinary user
where the system has handed on a part, as systemd does. Where none may be made, the judge watches alone. The
judge watches in both cases: its verdicts name the limit, and a group only ends what is beyond it.
"""

import atexit
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import NamedTuple

MOUNTS = Path("/proc/self/mountinfo")
OWN = Path("/proc/self/cgroup")
PREFIX = "rnnlab"
PATIENCE = 1.0  # seconds until a group whose processes were killed can be removed
_numbers = count(1)
_idle: dict[tuple[int, int], "ControlGroup"] = {}  # by their limits


class Hierarchy(NamedTuple):
    """A tree of groups: where new ones may be made, and which files of a group state which limit."""

    places: tuple[Path, ...]  # tried in turn
    memory: tuple[str, ...]  # files that state bytes
    tasks: tuple[str, ...]  # files that state a number of processes and threads


class ControlGroup:
    """The folders of one group. Version 1 of the kernel's interface has one for each resource."""

    def __init__(self, folders: list[Path]):
        self.folders = folders

    def take(self, pids: Sequence[int]) -> None:
        """Move processes into the group; what they start from now on belongs to it."""
        for folder in self.folders:
            for pid in pids:
                with suppress(ProcessLookupError):
                    (folder / "cgroup.procs").write_text(str(pid))

    def is_empty(self) -> bool:
        """Have all its processes ended, at once or after a while?"""
        until = time.monotonic() + PATIENCE
        while any(_text(folder / "cgroup.procs").strip() for folder in self.folders):
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        return True

    def end(self) -> None:
        """Remove the group, whose processes have ended or are ending."""
        until = time.monotonic() + PATIENCE
        while self.folders and time.monotonic() < until:
            self.folders = [folder for folder in self.folders if not _is_removed(folder)]
            if self.folders:
                time.sleep(0.01)


def make(memory: int, tasks: int) -> ControlGroup | None:
    """A new group with so many bytes and tasks at most; None where none may be made."""
    group = ControlGroup([])
    for hierarchy in hierarchies():
        folder = _made(hierarchy, memory, tasks)
        if folder is None:
            group.end()
            return None
        group.folders.append(folder)
    return group if group.folders else None


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


def hierarchies() -> list[Hierarchy]:
    """The trees that limit memory and tasks: one of version 2, or two of version 1; empty for neither."""
    try:
        mounts = [line.split() for line in MOUNTS.read_text().splitlines()]
        own = dict(line.split(":", 2)[1:] for line in OWN.read_text().splitlines())
    except OSError:
        return []
    first: dict[str, Hierarchy] = {}
    for words in mounts:
        kind = words[words.index("-") + 1]
        options = set(words[-1].split(","))
        top = Path(re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), words[4]))
        if kind == "cgroup2" and (places := _places(top / own.get("", "/").lstrip("/"), top)):
            return [Hierarchy(places, ("memory.max",), ("pids.max",))]
        if kind == "cgroup":
            for name in {"memory", "pids"} & options:
                place = next((path for names, path in own.items() if name in names.split(",")), "/")
                files = (("memory.limit_in_bytes",), ()) if name == "memory" else ((), ("pids.max",))
                first.setdefault(name, Hierarchy((top / place.lstrip("/"),), *files))
    return [*first.values()] if len(first) == 2 else []


def _places(own: Path, top: Path) -> tuple[Path, ...]:
    """Groups that hand both resources on to those made in them: the judge's own, or the one above, as one
    with processes in it mostly hands on none."""

    def handed_on(place):
        return {*_text(place / "cgroup.subtree_control").split()}

    return tuple(
        place
        for place in (own, own.parent)
        if place.is_relative_to(top) and {"memory", "pids"} <= handed_on(place)
    )


def _made(hierarchy: Hierarchy, memory: int, tasks: int) -> Path | None:
    for place in hierarchy.places:
        for folder in _abandoned(place):
            _is_removed(folder)
        folder = place / f"{PREFIX}-{os.getpid()}-{next(_numbers)}"
        limits = dict.fromkeys(hierarchy.memory, memory) | dict.fromkeys(hierarchy.tasks, tasks)
        try:
            folder.mkdir()
            for name, limit in limits.items():
                (folder / name).write_text(str(limit))
        except OSError:
            _is_removed(folder)
            continue
        with suppress(OSError):
            (folder / "memory.swap.max").write_text("0")  # version 2, where the machine has swap
        return folder
    return None


def _abandoned(place: Path) -> Iterator[Path]:
    """Groups of judges that were killed."""
    for folder in place.glob(f"{PREFIX}-*-*"):
        pid = folder.name.split("-")[1]
        if pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            yield folder


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
