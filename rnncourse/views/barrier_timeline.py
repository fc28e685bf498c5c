"""What the threads of a block did between its barriers, in the order in which the simulator ran them."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from rnncourse.figures.picture import PALETTE, canvas

KINDS = {"reads": (0, 3), "writes": (1, 4), "atomics": (2,)}  # the kinds of simulator.trace
MARKS = {
    "reads": ("|", PALETTE["blue"]),
    "writes": ("s", PALETTE["orange"]),
    "atomics": ("D", PALETTE["purple"]),
}
BARRIER = 6


def figure_barriers(report: Any, block: int = 0) -> Figure:
    """A row for each thread, a mark for each access to shared memory; barriers are lines that all rows share.

    report: what cuda.observe returned.  Time is the number of events so far: the simulator runs one thread
    after another, so a run of marks in one row is one thread's turn.
    """
    accesses, first = report.accesses, block * report.accesses.threads_per_block
    of_array = np.array(["", *(array.space for array in accesses.arrays[1:])])
    mine = (accesses.block == block) & (of_array[accesses.array] == "shared")
    figure, axis = canvas(width=7.2, height=3.2)
    for name, kinds in KINDS.items():
        chosen = mine & np.isin(accesses.kind, kinds)
        if chosen.any():
            mark, colour = MARKS[name]
            axis.plot(
                accesses.when[chosen], accesses.thread[chosen] - first, mark, color=colour, ms=4, label=name
            )
    for when in barriers(report, block):
        axis.axvline(when, color=PALETTE["black"], lw=1)
    axis.set(xlabel="events so far", ylabel="thread of the block")
    axis.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))  # no corner is free
    return figure


def barriers(report: Any, block: int = 0) -> list[int]:
    """When each of the block's barriers opened: the last arrival at it."""
    columns, threads = report.trace, report.accesses.threads_per_block
    arrivals = np.flatnonzero((columns.kind == BARRIER) & (columns.thread // threads == block))
    return [int(arrivals[k]) for k in range(threads - 1, len(arrivals), threads)]


def barriers_in_words(report: Any, block: int = 0) -> str:
    """How many barriers, and how many accesses lie between them."""
    accesses, opened = report.accesses, barriers(report, block)
    mine = accesses.when[accesses.block == block]
    parts = np.diff([0, *np.searchsorted(mine, opened), len(mine)])
    listed = ", ".join(str(int(n)) for n in parts)
    return f"Block {block} synchronises {len(opened)} times; accesses before, between and after: {listed}."
