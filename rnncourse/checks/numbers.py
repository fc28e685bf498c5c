"""Checks of exercises whose arguments and results are plain numbers, and tables of such arguments."""

import re
from collections.abc import Callable

from nbjudge.comparing.judging import add_to_case, expect
from rnncourse.checks.answers import ModelAnswer

NUMBER = re.compile(r"\d[\d_]*(\.\d+)?")


def rows_of(table: str) -> list[tuple]:
    """The rows below a table's line of names: numbers, True and False, else texts; # begins a comment."""
    lines = [line.partition("#")[0].split() for line in table.strip().splitlines()]
    return [tuple(map(_value, line)) for line in lines[1:]]


def _value(text: str) -> int | float | bool | str:
    number = NUMBER.fullmatch(text)
    if not number:
        return {"True": True, "False": False}.get(text, text)
    return float(text) if number[1] else int(text)


def compare(
    submission: Callable, answer: ModelAnswer, arguments: tuple, advice: Callable | None = None, **how: object
) -> bool:
    """Whether a submission gives what the course's answer gives; how: axes, names and so on, as of expect.

    advice: the next step where they differ, from both results.
    """
    want = answer.call(*arguments)
    got = submission(*arguments)
    return expect(got, want, advice=lambda: advice(got, want) if advice else None, **how)


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
        if parts:
            add_to_case(parts(*arguments))
        own = (lambda got, want: advice(got, want, *arguments)) if advice else None
        compare(submission, answer, arguments, own, axes=(), what=what, tolerance=tolerance)

    return check
