"""Time several ways of doing the same, in turn: whatever slows the machine down slows all of them."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from rnnlab.resources import in_browser
from rnnlab.timings import OTHERS, Timing, disturbance, load_of_a_core

__all__ = "OTHERS", "Timing", "disturbance", "load_of_a_core", "rest", "rotated", "take_turns", "verdict"

SPINNING = 0.3  # seconds; OpenBLAS's idle threads spun for 0.11 where it was measured, Intel's OpenMP for 0.2
LOOK = 0.01  # seconds between two readings of this process's CPU time: a tick of Linux, or more
BROWSER_SECONDS = 15.0  # NumPy in a browser has no BLAS: all rounds of lesson 05 would take ten minutes

Item = TypeVar("Item")


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
