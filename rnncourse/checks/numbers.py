"""Checks of exercises whose arguments and results are plain numbers."""

from collections.abc import Callable

from nbjudge.comparing.judging import add_to_case, expect
from rnncourse.checks.answers import ModelAnswer


def compare_numbers(
    answer: ModelAnswer,
    what: str | tuple[str, ...],
    parts: Callable | None = None,
    tolerance: float | None = None,
    advice: Callable | None = None,
) -> Callable:
    """A check whose cases are the arguments themselves.

    what: name of the result, or of its parts.  parts: a sentence from the arguments, what the
    right numbers consist of.  advice: the next step where the results differ, from the answer's, the right
    ones and the arguments.
    """

    def check(submission: Callable, rng: object, *arguments: object) -> None:
        want = answer.call(*arguments)
        if parts:
            add_to_case(parts(*arguments))
        got = submission(*arguments)
        own = lambda: advice(got, want, *arguments) if advice else None
        expect(got, want, axes=(), what=what, tolerance=tolerance, advice=own)

    return check
