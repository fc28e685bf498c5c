"""The exercise that the attacks in this folder are made on: sums over the steps so far."""

import numpy as np

from nbjudge.comparing.judging import expect
from nbjudge.exercise import Exercise


def right(x):
    """y [T,B] from x [T,B]: y[t] is the sum of x[0] to x[t]."""
    return np.cumsum(x, axis=0)


def check(submission, rng):
    for T, B in ((1, 1), (3, 2), (5, 4)):
        x = rng.standard_normal((T, B))
        want = right(x)
        got = submission(x)
        last = got[-1]  # breaks on what has no steps: no attack may gain by that
        expect(got, want, axes=("step", "sequence"), what="the sum", case=f"T={T}, B={B}")
        expect(last, want[-1], axes=("sequence",), what="the last sum")


EXERCISE = Exercise(
    name="running_sum",
    points=100,
    difficulty=1,
    minutes=1,
    lines=1,
    hints=("Add up.", "Keep the sum of the steps before.", "`np.cumsum` has an axis."),
    check=check,
    cases=((),),
    make=lambda mutant: right,
    mutants=(),
    right=(),
    seconds=0.5,
)
