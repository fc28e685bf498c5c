"""A submission's results beside the right ones, whose parts and axes one text names.

"the states: step, unit" is one result and the names of its axes; "dx: step, input; dh0: unit; loss" are the
parts of a tuple, the last one a number.
"""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from nbjudge.comparing import judging
from rnncourse.checks.answers import ModelAnswer

Names = str | Mapping[str, tuple]


def expect(
    got: object,
    want: object,
    results: Names,
    case: str = "",
    tolerance: float | None = None,
    advice: Callable[[], str | None] = lambda: None,
) -> bool:
    """Whether a result is right; the first difference is noted, with the advice (judging.expect).

    results: names of the parts and of their axes, as above or {part: axes}.
    """
    axes = results
    if isinstance(results, str):
        axes = named(results)
    what: str | tuple = tuple(axes)
    if isinstance(results, str) and len(axes) == 1:
        (what,) = axes
        axes = axes[what]
    return judging.expect(got, want, axes=axes, what=what, case=case, tolerance=tolerance, advice=advice)


def compare(
    answer: ModelAnswer,
    submission: Callable,
    arguments: tuple,
    results: Names,
    advice: Callable = lambda got, want: None,
    case: str = "",
    tolerance: float | None = None,
) -> bool:
    """Whether a submission gives what the course's answer gives to the same arguments.

    advice: the next step where they differ, from both results.
    """
    want = answer.call(*arguments)
    got = submission(*arguments)
    return expect(got, want, results, case, tolerance, partial(advice, got, want))


def is_array(got: object, shape: tuple) -> bool:
    """Whether a result is an array of this shape."""
    return isinstance(got, np.ndarray) and got.shape == shape


def one_array_in_all(got: np.ndarray, want: np.ndarray) -> str | None:
    """Advice where every row [T,...] holds the last one's numbers: an array that was changed in place."""
    rows = len(got)
    if rows < 2 or (got != got[-1]).any():
        return None
    if not np.allclose(got[-1], want[-1]):
        return None
    return (
        f"all {rows} rows hold what belongs into the last one: the list has one array many times, which "
        "changes in place. Append h.copy(), or make a new array at each step."
    )


def named(results: str) -> dict[str, tuple[str, ...]]:
    """{part: names of its axes}, in order."""
    parts = {}
    for part in results.split("; "):
        name, _, axes = part.partition(": ")
        parts[name] = tuple(axes.split(", ")) if axes else ()
    return parts
