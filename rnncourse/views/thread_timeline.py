"""Threads that share a minibatch: a barrier after every step, or one after the whole sequence.

A step's work is shared out evenly; but no share takes exactly its time, since other programs, caches and
clocks interfere.  A thread that is early at a barrier waits for the last one, and the barrier itself takes
time.  Durations are in hundredths of one thread's step.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nbjudge.printable import quantity
from rnncourse.figures.picture import Slider, View, canvas, slider_view

STEP = 100.0  # one thread's work in a step
THREADS = (1, 2, 4, 8)
STEPS = (4, 8, 16, 32)
BARRIERS = (0, 2, 5, 10, 20, 50)
UNEVEN = (0, 5, 10, 20, 40)  # percent
MEANING = {
    "works, step by step": "okabe:blue",
    "waits for the last thread": "okabe:yellow",
    "barrier": "black",
}


class TimelineRun(NamedTuple):
    """When each thread worked, and when all were released."""

    starts: np.ndarray  # [threads, steps]
    ends: np.ndarray  # [threads, steps]
    arrivals: np.ndarray  # [threads, M] at each of M barriers
    released: np.ndarray  # [M] when each barrier was over

    @property
    def makespan(self) -> float:
        """When all were done."""
        return float(self.released[-1])

    @property
    def working(self) -> float:
        """Share of all threads' time in which they worked."""
        return self._share(self.ends - self.starts)

    @property
    def waiting(self) -> float:
        """Share of all threads' time in which they waited for the last one."""
        return self._share(self.arrivals.max(0) - self.arrivals)

    def _share(self, durations: np.ndarray) -> float:
        threads = len(self.starts)
        return float(durations.sum() / (self.makespan * threads))


@lru_cache(maxsize=256)
def work(threads: int, steps: int, uneven: int) -> np.ndarray:
    """[threads, steps] duration of every share; those of a step add up to STEP."""
    size = (max(THREADS), max(STEPS))
    draws = np.random.default_rng(7).uniform(-1, 1, size)
    shares = 1 + uneven / 100 * draws[:threads, :steps]
    return STEP * shares / shares.sum(0)


def barrier_every_step(threads: int, steps: int, barrier: float, uneven: int) -> TimelineRun:
    """All threads wait for each other after each step."""
    durations = work(threads, steps, uneven)
    longest = durations.max(0)
    paid = barrier if threads > 1 else 0.0
    released = np.cumsum(longest + paid)
    starts = np.broadcast_to(released - longest - paid, durations.shape)
    ends = starts + durations
    return TimelineRun(starts, ends, ends, released)


def barrier_once(threads: int, steps: int, barrier: float, uneven: int) -> TimelineRun:
    """Each thread takes its sequences through all steps, then all synchronise."""
    durations = work(threads, steps, uneven)
    ends = np.cumsum(durations, axis=1)
    paid = barrier if threads > 1 else 0.0
    arrivals = ends[:, -1:]
    released = arrivals.max(0) + paid
    return TimelineRun(ends - durations, ends, arrivals, released)


WAYS = {"a barrier after every step": barrier_every_step, "one barrier": barrier_once}


def finding(threads: int, steps: int, barrier: int, uneven: int) -> str:
    """What the picture shows, in one sentence."""
    often = barrier_every_step(threads, steps, barrier, uneven)
    once = barrier_once(threads, steps, barrier, uneven)
    alone = STEP * steps
    speedup_often = alone / often.makespan
    speedup_once = alone / once.makespan
    sizes = f"{quantity(threads, 'thread')}, {quantity(steps, 'step')}"
    barriers = quantity(steps, "barrier")
    return (
        f"{sizes}, a barrier costs {barrier} % of a step. With {barriers} it is "
        f"{speedup_often:.2f} times as fast as one thread: the threads work {often.working:.0%} of "
        f"the time and wait {often.waiting:.0%}. With one barrier it is {speedup_once:.2f} times "
        f"as fast: working {once.working:.0%}, waiting {once.waiting:.0%}."
    )


def figure_threads(threads: int, steps: int, barrier: int, uneven: int) -> Figure:
    """A row for each thread, a bar for each of its steps; above with a barrier a step, below with one."""
    figure, axes = canvas(2, 1, width=8.0, height=4.0, sharex=True)
    runs = [run(threads, steps, barrier, uneven) for run in WAYS.values()]
    for axis, run, title in zip(axes, runs, WAYS, strict=True):
        _draw(axis, run, threads)
        speedup = STEP * steps / run.makespan
        axis.set_title(f"{title}: {speedup:.2f} times one thread's speed", loc="left")
    longest = runs[0].makespan
    axes[1].set(xlabel="time, in hundredths of one thread's step", xlim=(0, 1.02 * longest))
    handles = [Patch(color=colour, label=label) for label, colour in MEANING.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return figure


def explore_threads() -> View:
    """Sliders for threads, steps, the cost of a barrier, and how uneven the shares are."""
    return slider_view(
        figure_threads,
        finding,
        threads=Slider("threads", THREADS, start=2),
        steps=Slider("steps", STEPS, start=1),
        barrier=Slider("cost of a barrier, %", BARRIERS, start=3),
        uneven=Slider("uneven by, ±%", UNEVEN, start=3),
    )


def _draw(axis, run: TimelineRun, threads: int) -> None:
    begins = run.arrivals.max(0)  # of each barrier
    for thread in range(threads):
        row = (thread - 0.4, 0.8)
        starts = run.starts[thread]
        spans = np.column_stack([starts, run.ends[thread] - starts])
        axis.broken_barh(spans[::2], row, color="okabe:blue")  # neighbouring steps differ in colour
        axis.broken_barh(spans[1::2], row, color="okabe:sky")
        arrivals = run.arrivals[thread]
        waits = np.column_stack([arrivals, begins - arrivals])
        axis.broken_barh(waits, row, color="okabe:yellow")
    for began, over in zip(begins, run.released, strict=True):
        axis.axvspan(began, over, color="black", linewidth=0)
    axis.set(ylim=(threads - 0.4, -0.6), yticks=range(threads), ylabel="thread")
