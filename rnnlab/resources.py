"""What this process may use: cores, memory, caches.  A container's limits count, not the computer's sizes."""

import math
import platform
import re
from pathlib import Path

from ranks.cores import file_text, in_browser, limits, usable_cores

__all__ = "caches", "in_browser", "memory_limit", "processor_flags", "processor_name", "usable_cores"

CPUINFO = Path("/proc/cpuinfo")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
UNIT_BYTES = {"K": 2**10, "M": 2**20, "G": 2**30}


def memory_limit() -> float:
    """Bytes that this process's group may use; infinite without a limit."""
    texts = [*limits("memory.max"), *limits("memory/memory.limit_in_bytes")]
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
        size = re.fullmatch(r"(\d+)([KMG])", file_text(folder / "size"))
        if size and file_text(folder / "type") != "Instruction":
            sizes[f"L{file_text(folder / 'level')}"] = int(size[1]) * UNIT_BYTES[size[2]]
    return sizes


def _cpuinfo(key: str) -> str:
    line = re.search(rf"^{key}\s*:(.*)$", file_text(CPUINFO), re.M)
    return line[1].strip() if line else ""
