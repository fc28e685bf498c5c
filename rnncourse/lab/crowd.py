"""The load of other programs on the cores, asked before anything is measured, while this program rests."""

import os

from rnnlab.resources import in_browser

CROWDED = 0.15  # part of the cores' time: more than that for others, and rates are too low
SECONDS = 0.5


def others_part() -> float:
    """Part of the time of the cores that this process may use, 0 to 1, that goes to other programs.

    This process must rest meanwhile.  0 in a browser, which does not tell.
    """
    if in_browser():
        return 0.0
    import psutil  # not built for browsers

    percents = psutil.cpu_percent(SECONDS, percpu=True)
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(len(percents))
    own = [percents[core] for core in allowed if core < len(percents)] or percents
    return sum(own) / len(own) / 100


def warning(part: float) -> str:
    """Sentence about other programs on the cores; empty where they are few."""
    if part <= CROWDED:
        return ""
    return f"other programs use {part:.0%} of the cores: rates and times are worse than this machine's own"
