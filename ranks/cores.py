"""Cores that this process may use.  A container's limits count, not the computer's sizes.

A container limited to 2 of 64 cores still sees 64, and a library that starts 64 threads there gets in its
own way.
Linux states the limits in control groups, in one of two layouts; elsewhere only the whole computer is known.
"""

import math
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
OWN_GROUP = Path("/proc/self/cgroup")


def in_browser() -> bool:
    """Whether this Python runs in a browser: no processes, no threads, no files of this computer."""
    return sys.platform == "emscripten"


def usable_cores() -> int:
    """Cores that this process may run on, or whose time it is given: never less than one."""
    if in_browser():  # which names the computer's cores, and starts no thread on them
        return 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(allowed, _quota())))


@cache  # reading the system's files takes 0.25 ms, which a training step of 9 ms paid twice
def _quota() -> float:
    """CPU seconds a second: the least limit of this group and of those it lies in, as first read."""
    pairs = [text.split() for text in limits("cpu.max")]  # "200000 100000", or "max 100000"
    spans = zip(limits("cpu/cpu.cfs_quota_us"), limits("cpu/cpu.cfs_period_us"), strict=False)
    quotas = [int(q) / int(p) for q, p in [*pairs, *spans] if q.isdigit()]  # -1 and max: no limit
    return min(quotas, default=math.inf)


def limits(name: str) -> Iterator[str]:
    """Texts of a limit's file, from this process's group upward; name is "file", or "controller/file"."""
    controller, _, file = name.rpartition("/")
    for line in file_text(OWN_GROUP).splitlines():
        _, controllers, group = line.split(":", 2)
        if controller in controllers.split(","):
            inside = Path(group.lstrip("/"))
            folders = [CGROUPS / controller / part for part in (inside, *inside.parents)]
            yield from filter(None, (file_text(folder / file) for folder in dict.fromkeys(folders)))


def file_text(path: Path) -> str:
    """The file's text without the space around it; empty if the file is missing."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
