"""One line that shows how far a run is: how many are graded, how many faults, how long it will take."""

from collections.abc import Iterable
from typing import TextIO

from rnnlab.grading.classroom.results import Result

PAUSE = 30.0  # seconds between two lines where nobody watches a terminal
PACE = 20  # of the latest results, from which the time left is computed


class Progress:
    """Progress of one run: one line rewritten on a terminal, a line now and then elsewhere."""

    def __init__(self, total: int, stream: TextIO):
        self.total, self.stream = total, stream
        self.graded = self.faults = 0
        self.times = [0.0]  # seconds at which results came
        self.is_terminal = stream.isatty()
        self._shown = -PAUSE

    def count(self, result: Result, seconds: float) -> None:
        """Count one result that came so many seconds after the beginning."""
        self.graded += 1
        self.faults += bool(result.faults)
        self.times.append(seconds)
        if self.is_terminal:
            self.stream.write(f"\r\x1b[K{self.line()}")
        elif seconds - self._shown >= PAUSE:
            self.stream.write(f"{self.line()}\n")
            self._shown = seconds
        self.stream.flush()

    def line(self) -> str:
        """Graded, faults, time left."""
        faults = f" · {self.faults} with a fault of the grader" if self.faults else ""
        return f"{self.graded} of {self.total} graded{faults} · {left(self.times, self.total - self.graded)}"

    def end(self) -> None:
        """Leave the line as it is."""
        if self.is_terminal and self.graded:
            self.stream.write("\n")


def left(times: Iterable[float], remaining: int) -> str:
    """The time until so many more results, at the pace of the latest ones, in words."""
    latest = [*times][-PACE - 1 :]
    if not remaining:
        return f"{in_words(latest[-1])} in all"
    pace = (latest[-1] - latest[0]) / max(len(latest) - 1, 1)
    return f"about {in_words(pace * remaining)} left"


def in_words(seconds: float) -> str:
    """A time with a fitting unit: "40 s", "12 min", "3.5 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
