"""What a check observes about one answer, case by case: what differs, and what a mistake must repeat.

A check calls `expect(got, want, ...)` for a result that is determined, or `refuse(problem, ...)` for a limit
that may be broken. Neither raises: all cases are run, and the first difference becomes the message. A known
mistake is named only if it explains every case, right ones and wrong ones alike: see `Transcript.repeats`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite
from typing import NamedTuple

import numpy as np

from nbjudge.answers import judged_numbers
from nbjudge.comparing.differences import first_difference, same
from nbjudge.exercise import Wrong
from nbjudge.verdict import Stopped


class Observation(NamedTuple):
    """What one comparison showed."""

    problem: Wrong | None  # None if the answer is right
    result: object  # what a known mistake must give too: a result, or the sentence of a broken limit
    tolerance: float | None = None
    detail: object = None  # tells mistakes apart whose results agree, for instance counts


class Unlike(Exception):
    """An observation differs from the one that it should repeat."""


class Transcript:
    """All observations of one check.

    like: another one, whose observations these must repeat; the first that does not raises Unlike.
    """

    def __init__(self, like: "Transcript | None" = None) -> None:
        self.like = like
        self.observations: list[Observation] = []
        self.crash: Stopped | None = None  # an exception of the answer, which ended the check
        self.call: object = None  # as the course describes it: the first that went wrong, or else the last
        self.number = -1  # of the case that the check tries
        self.costs: Counter[str] = Counter()  # of the costliest call, by what the check counts
        self.costliest = -1  # number of its case; the last one where the check counts nothing
        self.tell: Callable[[], None] = lambda: None  # called before each case and each known mistake
        self.case = ""  # what the check tries at the moment: its arguments, or what `begin_case` says
        self._finite_results: dict[int, object] = {}  # by the observation's number

    @property
    def first(self) -> Wrong | None:
        """The first difference; None if all agree."""
        return next((seen.problem for seen in self.observations if seen.problem), None)

    def add(self, seen: Observation) -> None:
        """Add an observation; raises Unlike."""
        number = len(self.observations)
        self.observations.append(seen)
        if self.like is None:
            return
        if number == len(self.like.observations) or not self.like._is_alike(self, number):
            raise Unlike

    def repeats(self, other: "Transcript") -> bool:
        """Whether both are right in the same cases, and wrong in the same way in all others."""
        same_end = _headline(self.crash) == _headline(other.crash)
        if not same_end or len(self.observations) != len(other.observations):
            return False
        return all(self._is_alike(other, number) for number in range(len(self.observations)))

    def _is_alike(self, other: "Transcript", number: int) -> bool:
        mine = self.observations[number]
        theirs = other.observations[number]
        if mine.problem is None or theirs.problem is None:
            return mine.problem is theirs.problem
        return same(self._finite(number), other._finite(number), mine.tolerance)

    def _finite(self, number: int) -> object:
        """The finite result of an observation, computed once for all known mistakes."""
        if number not in self._finite_results:
            self._finite_results[number] = _finite(self.observations[number].result)
        return self._finite_results[number]

    def repeats_details(self, other: "Transcript") -> bool:
        """Whether the details agree, too."""
        return all(a.detail == b.detail for a, b in zip(self.observations, other.observations, strict=True))


def _headline(crash: Stopped | None) -> str:
    """The exception's type and text, without the line that it came from."""
    return str(crash).partition("\n")[0] if crash else ""


def _finite(result) -> object:
    """The result with each array of floats split: its finite numbers, and where which others stand."""
    if isinstance(result, tuple | list):
        return tuple(map(_finite, result))
    if isinstance(result, dict):
        return {key: _finite(part) for key, part in result.items()}
    if type(result) is float and isfinite(result):  # most results: be quick
        return result, 0
    if not isinstance(result, np.ndarray | float | np.floating) or np.asarray(result).dtype.kind != "f":
        return result
    numbers = np.asarray(result)
    kinds = np.isnan(numbers) + 2 * np.isposinf(numbers) + 3 * np.isneginf(numbers)
    return np.where(kinds, 0, numbers), kinds


_transcript: ContextVar[Transcript] = ContextVar("transcript")


@contextmanager
def recording(transcript: Transcript) -> Iterator[None]:
    """Collects what expect and refuse observe."""
    token = _transcript.set(transcript)
    try:
        yield
    finally:
        _transcript.reset(token)


def expect(
    got: object,
    want: object,
    *,
    axes: tuple | Mapping = ("step", "sequence", "unit"),
    what: str | tuple = "h",
    case: str = "",
    tolerance: float | None = None,
    advice: Callable[[], str | None] = lambda: None,
) -> bool:
    """Whether `got` is `want`; the first difference is noted, with the case in parentheses.

    `want` is an array, a number, or a tuple or dict of those; then `what` names the parts of a tuple and
    `axes` may be {part: axes}. `tolerance` is a relative error; without it the dtype decides
    (compare.TOLERANCES). `advice` gives the next step where values differ.
    """
    difference = first_difference(got, want, axes, what, tolerance)
    if difference and difference.misconception is None:
        difference.next_step = difference.next_step or advice()
    _note(Observation(difference, got, tolerance), case)
    return difference is None


def refuse(
    problem: str | Wrong | None,
    case: str = "",
    result: object = None,
    detail: object = None,
    tolerance: float | None = None,
) -> bool:
    """Whether nothing is wrong; else the problem is noted, as a sentence.

    A known mistake must give the same `result`, within the tolerance; without one, the same sentence.
    """
    wrong = Wrong(problem) if isinstance(problem, str) else problem
    sentence = wrong.message if wrong else None
    _note(Observation(wrong, sentence if result is None else result, tolerance, detail), case)
    return wrong is None


def begin_case(case: str) -> None:
    """Say what the check tries now, in the place of its arguments; for a message or an exception."""
    _transcript.get().case = case


def begin_call(call: object) -> None:
    """Keep the call that the check makes now, for a replay; after a difference, the earlier one stays."""
    transcript = _transcript.get()
    if transcript.first is None:
        transcript.call = call


def keep_costs(costs: Mapping[str, int]) -> None:
    """Keep what a call of the answer cost, by what the check counts, unless an earlier one cost more."""
    transcript = _transcript.get()
    if sum(costs.values()) > transcript.costs.total():
        transcript.costs = Counter(costs)
        transcript.costliest = transcript.number


def add_to_case(details: str) -> None:
    """Add details to the case that messages name."""
    transcript = _transcript.get()
    transcript.case = "; ".join(filter(None, (transcript.case, details)))


def _note(seen: Observation, case: str) -> None:
    transcript = _transcript.get()
    details = "; ".join(filter(None, (case or transcript.case, judged_numbers())))
    if seen.problem and details:
        seen.problem.message += f" ({details})"
    transcript.add(seen)
