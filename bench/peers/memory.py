"""How much memory a step needs at its highest: what the operating system saw, not what an allocator says.

Linux keeps the highest resident size of a process (VmHWM) and forgets it on request, so one step can be
measured in a process that has run many.  Memory that allocators hold back for later is returned first.
"""

import ctypes
import gc
import re
from collections.abc import Callable
from pathlib import Path

STATUS = Path("/proc/self/status")
FORGET = Path("/proc/self/clear_refs")
RESET_HIGHEST = "5"  # what clear_refs understands as: start the high-water mark anew


def highest_of(step: Callable[[], object]) -> int | None:
    """Bytes by which the process grows, at the most, during one step; None if unknown."""
    try:
        return_unused()
        before = _status("VmRSS")
        FORGET.write_text(RESET_HIGHEST)
    except (OSError, AttributeError):
        return None
    outcome = step()
    highest = _status("VmHWM")
    del outcome
    return max(0, highest - before)


def return_unused() -> None:
    """Give back what C's allocator keeps of freed memory."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def _status(name: str) -> int:
    """A size in bytes from this process's status."""
    return 1024 * int(re.search(rf"^{name}:\s+(\d+) kB", STATUS.read_text(), re.M)[1])
