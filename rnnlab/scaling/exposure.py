"""Exposure: how much of a step's communication was hidden behind its backward pass.

A sum is hidden as far as it ran before the backward pass ended; the rest is exposed: nobody computes then.
Times in a table are medians over steps, in milliseconds after the backward pass began.
"""

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from rnnlab.scaling.overlap import Result

MILLISECONDS = 1e3


class Interval(NamedTuple):
    """One sum: when its array was complete on this rank, when it was begun, and when it was complete (s)."""

    name: str
    bytes: int
    ready: float
    start: float
    end: float


class Step(NamedTuple):
    """Sums of one step on one rank, and its backward pass."""

    backward: Result
    sums: list[Interval]

    @property
    def exposed(self) -> float:
        """Seconds from the end of the backward pass until the last sum was complete."""
        return max(0.0, max(interval.end for interval in self.sums) - self.backward.end)


class Row(NamedTuple):
    """One bucket: milliseconds after the backward pass began, and how many of the sum's were hidden."""

    name: str
    bytes: int
    complete: float  # its gradient, on this rank
    summed: float
    hidden: float  # milliseconds that the sum took during the backward pass
    exposed: float  # and after it


def rows(steps: Sequence[Step]) -> list[Row]:
    """One row for each bucket, in the order in which they were complete; medians over the steps."""
    by_name: dict[str, list[tuple[Step, Interval]]] = {}
    for step in steps:
        for interval in step.sums:
            by_name.setdefault(interval.name, []).append((step, interval))
    return sorted((_row(name, pairs) for name, pairs in by_name.items()), key=lambda row: row.complete)


def table(steps: Sequence[Step]) -> str:
    """Rows as text, with the backward pass below them."""
    lines = ["sum of        bytes    complete      summed      hidden     exposed"]
    for row in rows(steps):
        times = "".join(f"{value:9.2f} ms" for value in row[2:])
        lines.append(f"{row.name:9}{row.bytes:10}{times}")
    duration = statistics.median(step.backward.end - step.backward.start for step in steps)
    exposed = statistics.median(step.exposed for step in steps)
    return "\n".join(
        [
            *lines,
            f"The backward pass takes {duration * MILLISECONDS:.2f} ms; after it, the rank waits "
            f"{exposed * MILLISECONDS:.2f} ms for sums (medians of {len(steps)} steps of rank 0).",
        ]
    )


def _row(name: str, pairs: list[tuple[Step, Interval]]) -> Row:
    median = lambda measure: MILLISECONDS * statistics.median(measure(step, one) for step, one in pairs)
    return Row(
        name,
        pairs[0][1].bytes,
        median(lambda step, one: one.ready - step.backward.start),
        median(lambda step, one: one.end - step.backward.start),
        median(lambda step, one: max(0.0, min(one.end, step.backward.end) - one.start)),
        median(lambda step, one: max(0.0, one.end - max(one.start, step.backward.end))),
    )
