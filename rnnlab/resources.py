"""What this process may use: cores, memory, caches.  A container's limits count, not the computer's sizes.

A container limited to 2 of 64 cores still sees 64, and a library that starts 64 threads there gets in its
own way.
Linux states the limits in control groups, in one of two layouts; elsewhere only the whole computer is known.
"""

import math
import os
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path

CGROUPS, OWN_GROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
CPUINFO, CACHES = Path("/proc/cpuinfo"), Path("/sys/devices/system/cpu/cpu0/cache")
UNIT_BYTES = {"K": 2**10, "M": 2**20, "G": 2**30}


def in_browser() -> bool:
    """Whether this Python runs in a browser: no processes, no threads, no files of this computer."""
    return sys.platform == "emscripten"


def usable_cores() -> int:
    """Cores that this process may run on, or whose time it is given: never less than one."""
    if in_browser():  # which names the computer's cores, and starts no thread on them
        return 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(allowed, _core_quota())))


def memory_limit() -> float:
    """Bytes that this process's group may use; infinite without a limit."""
    texts = [*_limits("memory.max"), *_limits("memory/memory.limit_in_bytes")]
    return min((int(text) for text in texts if text.isdigit()), default=math.inf)  # "max": no limit


def processor_name() -> str:
    """The maker's name of the processor, as far as the system reports it."""
    if in_browser():
        return "a browser's WebAssembly"
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def processor_flags() -> set[str]:
    """The instruction sets that Linux names on x86; empty elsewhere."""
    return set(_cpuinfo("flags").split())


def caches() -> dict[str, int]:
    """{"L1": bytes, "L2": ...} of the caches that hold data, as one core sees them; empty if unknown."""
    sizes = {}
    for folder in sorted(CACHES.glob("index*")):
        size = re.fullmatch(r"(\d+)([KMG])", _text(folder / "size"))
        if size and _text(folder / "type") != "Instruction":
            sizes[f"L{_text(folder / 'level')}"] = int(size[1]) * UNIT_BYTES[size[2]]
    return sizes


def _core_quota() -> float:
    """CPU seconds a second: the least of the limits of this group and of those it lies in."""
    pairs = [text.split() for text in _limits("cpu.max")]  # "200000 100000", or "max 100000"
    spans = zip(_limits("cpu/cpu.cfs_quota_us"), _limits("cpu/cpu.cfs_period_us"), strict=False)
    quotas = [int(q) / int(p) for q, p in [*pairs, *spans] if q.isdigit()]  # -1 and max: no limit
    return min(quotas, default=math.inf)


def _limits(name: str) -> Iterator[str]:
    """Texts of a limit's file, from this process's group upward; name is "file", or "controller/file"."""
    controller, _, file = name.rpartition("/")
    for line in _text(OWN_GROUP).splitlines():
        _, controllers, group = line.split(":", 2)
        if controller in controllers.split(","):
            inside = Path(group.lstrip("/"))
            folders = [CGROUPS / controller / part for part in (inside, *inside.parents)]
            yield from filter(None, (_text(folder / file) for folder in dict.fromkeys(folders)))


def _cpuinfo(key: str) -> str:
    line = re.search(rf"^{key}\s*:(.*)$", _text(CPUINFO), re.M)
    return line[1].strip() if line else ""


def _text(path: Path) -> str:
    """The file's text without the space around it; empty where there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
