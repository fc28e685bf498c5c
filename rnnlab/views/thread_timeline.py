"""Threads that share a minibatch: meeting after every step, or once after the whole sequence.

A step's work is shared out evenly; but no share takes exactly its time, since other programs, caches and
clocks interfere.  Who is early at a meeting waits for the last one, and the meeting itself takes its time.
Durations are in hundredths of one thread's step.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from rnnlab.picture import PALETTE, Slider, View, canvas, slider_view

STEP = 100.0  # one thread's work in a step
THREADS, STEPS, MEETINGS = (1, 2, 4, 8), (4, 8, 16, 32), (0, 2, 5, 10, 20, 50)
UNEVEN = (0, 5, 10, 20, 40)  # percent


class Run(NamedTuple):
    """When each thread worked, and when all met."""

    starts: np.ndarray  # [threads, steps]
    ends: np.ndarray  # [threads, steps]
    arrivals: np.ndarray  # [threads, M] at each of M meetings
    met: np.ndarray  # [M] when each meeting was over

    @property
    def makespan(self) -> float:
        """When all were done."""
        return float(self.met[-1])

    @property
    def working(self) -> float:
        """Share of all threads' time in which they worked."""
        return float((self.ends - self.starts).sum() / (self.makespan * len(self.starts)))

    @property
    def waiting(self) -> float:
        """Share of all threads' time in which they waited for the last one."""
        waits = self.arrivals.max(0) - self.arrivals
        return float(waits.sum() / (self.makespan * len(self.starts)))


@lru_cache(maxsize=256)
def work(threads: int, steps: int, uneven: int) -> np.ndarray:
    """[threads, steps] duration of every share; the same for the same arguments."""
    draw = np.random.default_rng(7).uniform(-1, 1, (max(THREADS), max(STEPS)))[:threads, :steps]
    return STEP / threads * (1 + uneven / 100 * draw)


def meeting_every_step(threads: int, steps: int, meeting: float, uneven: int) -> Run:
    """All threads wait for each other after each step."""
    durations = work(threads, steps, uneven)
    paid = meeting if threads > 1 else 0.0
    met = np.cumsum(durations.max(0) + paid)
    starts = np.broadcast_to(met - durations.max(0) - paid, durations.shape)
    return Run(starts, starts + durations, starts + durations, met)


def meeting_once(threads: int, steps: int, meeting: float, uneven: int) -> Run:
    """Each thread takes its sequences through all steps, then all meet."""
    durations = work(threads, steps, uneven)
    ends = np.cumsum(durations, axis=1)
    paid = meeting if threads > 1 else 0.0
    return Run(ends - durations, ends, ends[:, -1:], ends[:, -1:].max(0) + paid)


def finding(threads: int, steps: int, meeting: int, uneven: int) -> str:
    """What the picture shows, in one sentence."""
    often, once = (f(threads, steps, meeting, uneven) for f in (meeting_every_step, meeting_once))
    alone = STEP * steps
    return (
        f"{threads} threads, {steps} steps, a meeting costs {meeting} % of a step. {steps} meetings "
        f"make the sequence {alone / often.makespan:.2f} times as fast as one thread: the threads work "
        f"{often.working:.0%} of the time and wait {often.waiting:.0%}. One meeting makes it "
        f"{alone / once.makespan:.2f} times as fast: working {once.working:.0%}, waiting {once.waiting:.0%}."
    )


def figure_threads(threads: int, steps: int, meeting: int, uneven: int) -> Figure:
    """A row for each thread, a bar for each of its steps; above with a meeting a step, below with one."""
    figure, axes = canvas(2, 1, width=8.0, height=4.0, sharex=True)
    runs = [f(threads, steps, meeting, uneven) for f in (meeting_every_step, meeting_once)]
    for axis, run, title in zip(axes, runs, ("a meeting after every step", "one meeting"), strict=True):
        _draw(axis, run, threads)
        axis.set_title(f"{title}: {STEP * steps / run.makespan:.2f} times one thread's speed", loc="left")
    axes[1].set(xlabel="time, in hundredths of one thread's step", xlim=(0, 1.02 * runs[0].makespan))
    figure.legend(handles=_legend(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def explore_threads() -> View:
    """Sliders for threads, steps, the cost of a meeting, and how uneven the shares are."""
    return slider_view(
        figure_threads,
        finding,
        threads=Slider("threads", THREADS, start=2),
        steps=Slider("steps", STEPS, start=1),
        meeting=Slider("cost of a meeting, %", MEETINGS, start=3),
        uneven=Slider("uneven by, ±%", UNEVEN, start=3),
    )


def _draw(axis, run: Run, threads: int) -> None:
    colours = [PALETTE["blue"], PALETTE["sky"]]
    for thread in range(threads):
        spans = np.column_stack([run.starts[thread], (run.ends - run.starts)[thread]])
        for parity in (0, 1):  # neighbouring steps differ in colour
            axis.broken_barh(spans[parity::2], (thread - 0.4, 0.8), color=colours[parity])
        waits = np.column_stack([run.arrivals[thread], run.arrivals.max(0) - run.arrivals[thread]])
        axis.broken_barh(waits, (thread - 0.4, 0.8), color=PALETTE["yellow"])
    for began, over in zip(run.arrivals.max(0), run.met, strict=True):
        axis.axvspan(began, over, color=PALETTE["black"], linewidth=0)
    axis.set(ylim=(threads - 0.4, -0.6), yticks=range(threads), ylabel="thread")


def _legend() -> list[Patch]:
    meaning = {"works, step by step": "blue", "waits for the last thread": "yellow", "all meet": "black"}
    return [Patch(color=PALETTE[colour], label=label) for label, colour in meaning.items()]
