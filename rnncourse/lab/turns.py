"""Time several ways of doing the same, in turn: whatever slows the machine down slows all of them."""

import math
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rnnlab.resources import in_browser

DISTURBED = 1.0  # relative spread above which a median says nothing about the code
CROWDED = 2.0  # runnable threads for each core, above which other programs are among them

OTHERS = "something else was using the cores; run again"  # sites look for it in the outputs of lessons

SPINNING = 0.3  # seconds; OpenBLAS's idle threads spun for 0.11 where it was measured, Intel's OpenMP for 0.2
LOOK = 0.01  # seconds between two readings of this process's CPU time: a tick of Linux, or more
BROWSER_SECONDS = 15.0  # NumPy in a browser has no BLAS: all rounds of lesson 05 would take ten minutes

Item = TypeVar("Item")


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
    spreads = {name: timing.relative_spread for name, timing in timings.items()}
    words = [
        f"{' '.join(name.split())} {spread:.0%}" for name, spread in spreads.items() if spread > DISTURBED
    ]
    signs = [f"spread of {', '.join(words)}"] if words else []
    if (load := max((timing.load for timing in timings.values()), default=0.0)) > CROWDED:
        signs.append(f"{load:.1f} threads for each core")
    sentence = f"{' and '.join(signs)}: {OTHERS}."
    return sentence[0].upper() + sentence[1:] if signs else ""


def load_of_a_core() -> float:
    """Runnable threads for each core, the last minute's mean; 0 where the system does not count them."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):  # Windows, a browser
        return 0.0


def verdict(holds: bool, disturbed: str = "") -> str:
    """A verb for a sentence about a claim: holds or not; undecided if `disturbance` gave a reason."""
    if disturbed:
        return f"is undecided ({OTHERS})"
    return "holds" if holds else "does NOT hold"


def rest() -> None:
    """Wait until no thread of this process computes, for SPINNING seconds at most."""
    for _ in range(round(SPINNING / LOOK)):
        before = time.process_time()
        time.sleep(LOOK)
        if time.process_time() - before < LOOK / 4:
            return


def rotated(items: Sequence[Item], number: int) -> list[Item]:
    """Items in the order of round `number`: the first one changes, so that none always follows the same."""
    shift = number % max(1, len(items))
    return [*items[shift:], *items[:shift]]


def take_turns(
    candidates: Mapping[str, Callable[[], object]],
    rounds: int = 7,
    clock: Callable[[], float] = time.perf_counter,
    settled: bool = False,
    least: int = 2,
) -> dict[str, Timing]:
    """Run every candidate once to warm up, then `rounds` times (at least 2) in turn, and time each run.

    settled: before each turn wait until no thread of this process computes, and run the candidate once
    untimed. A BLAS's threads spin for a while after a product, and would take a core from the next
    candidate's. When all cores were busy, Linux may at first wake two threads on one core (seen on two).
    In a browser no further round begins once `least` have run and all runs together took BROWSER_SECONDS.
    """
    if rounds < 2:
        raise ValueError(f"rounds is {rounds}: a median needs at least 2")
    for run in candidates.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    most = BROWSER_SECONDS if in_browser() else math.inf
    for number in range(rounds):
        if number >= least and sum(map(sum, seconds.values())) >= most:
            break
        for name, run in rotated(list(candidates.items()), number):
            if settled:
                rest()
                run()
            start = clock()
            run()
            seconds[name].append(clock() - start)
    load = load_of_a_core()
    return {name: Timing(tuple(times), load) for name, times in seconds.items()}
