"""Timings of a piece of code, and whether other programs disturbed them."""

import os
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

DISTURBED = 1.0  # relative spread above which a median says nothing about the code
CROWDED = 2.0  # runnable threads for each core, above which other programs are among them

OTHERS = "something else was using the cores; run again"  # sites look for it in the outputs of lessons


@dataclass(frozen=True)
class Timing:
    """Seconds of one candidate: every round's, in order."""

    seconds: tuple[float, ...]
    load: float = 0.0  # mean number of runnable threads for each core; 0 where the system does not count

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """The quartiles: half of all rounds lie between them."""
        lower, _, upper = statistics.quantiles(self.seconds, n=4)
        return lower, upper

    @property
    def relative_spread(self) -> float:
        """Distance between the quartiles as a share of the median."""
        lower, upper = self.spread
        return (upper - lower) / self.median


def disturbance(timings: Mapping[str, Timing]) -> str:
    """Sentence about spreads above DISTURBED and loads above CROWDED; empty if there are none."""
    disturbed = []
    for name, timing in timings.items():
        spread = timing.relative_spread
        if spread > DISTURBED:
            words = " ".join(name.split())
            disturbed.append(f"{words} {spread:.0%}")
    signs = []
    if disturbed:
        signs.append(f"spread of {', '.join(disturbed)}")
    load = max((timing.load for timing in timings.values()), default=0.0)
    if load > CROWDED:
        signs.append(f"{load:.1f} threads for each core")
    if not signs:
        return ""
    sentence = f"{' and '.join(signs)}: {OTHERS}."
    return sentence[0].upper() + sentence[1:]


def load_of_a_core() -> float:
    """Runnable threads for each core, the last minute's mean; 0 where the system does not count them."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):  # Windows, a browser
        return 0.0
