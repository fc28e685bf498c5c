"""Check of a backward pass by a scan, whose gradient from outside lies with the judge."""

import numpy as np

from nbjudge.comparing.judging import refuse
from rnncourse.checks.answers import answers
from rnncourse.checks.lesson_18_parallel_in_time.linear_recurrence import (
    linear_states,
    proxy_of,
    require_shape,
)
from rnncourse.checks.results import expect, is_array

ANSWERS = answers("18_parallel_in_time")


@ANSWERS.exercise("""
       T  B  n
       3  1  2
       1  2  3
       5  3  2
    6:12  2  4
       n  2  3
""")
def check_backward_by_scan(answer, submission, rng, T, B, n):
    jacobians = rng.normal(size=(T, B, n, n)) / np.sqrt(n)
    dy = rng.normal(size=(T, B, n))
    outside = rng.normal(size=(B, n))
    calls = []
    scanned = []

    def scan(a: object, b: object) -> np.ndarray:
        steps = np.shape(b)[0] if np.ndim(b) else 0
        require_shape("a", a, (steps, B, n, n))
        require_shape("b", b, (len(a), B, n))
        calls.append(len(a))
        gradients = linear_states(a, b, outside)
        scanned.append(gradients)
        return gradients

    want = answer.function(scan, jacobians, dy)
    calls.clear()
    got = submission(proxy_of("scan", scan), jacobians, dy)

    def advice():
        if len(got) != 2:
            return None
        return _missing_terms(got[0], want[0], jacobians, dy, outside)

    again = None
    if len(calls) != 1:
        again = f"scan is called {len(calls)} times for {T} steps; all steps together are one call."
    refuse(again, result=len(calls))
    if expect(got, want, "dh: step, sequence, unit; dh0: sequence, unit", advice=advice):
        refuse(_not_scanned(want[0], scanned[-1]))


def _not_scanned(dh: np.ndarray, scanned: np.ndarray) -> str | None:
    """The last step of dh [T,B,n] whose gradient is none of those that scan returned [K,B,n], if any."""
    is_equal = np.isclose(dh[:, None], scanned, rtol=1e-5)  # [T,K,B,n]
    is_scanned = is_equal.all(axis=(2, 3)).any(axis=1)  # [T]
    if is_scanned.all():
        return None
    step = np.flatnonzero(~is_scanned)[-1]
    return f"The numbers are right, but scan did not return dh[{step}]: choose a and b such that it adds dy."


def _missing_terms(got, want, jacobians, dy, outside) -> str | None:
    """What the gradient consists of at the last step that differs."""
    if not is_array(got, want.shape):
        return None
    is_wrong = ~np.isclose(got, want)
    if not is_wrong.any():
        return "dh is right: dh0 is what step 0 passes back of dh[0]."
    t, b, k = map(int, np.argwhere(is_wrong)[-1])
    if t == len(want) - 1:
        arriving = outside[b]
        source = "from outside"
    else:
        later = t + 1
        arriving = jacobians[later, b].T @ want[later, b]
        source = f"from step {later}"
    gradient = arriving[k]
    own = dy[t, b, k]
    return (
        f"look at the last wrong step, {t}: at sequence {b}, unit {k}, {gradient:.4g} arrives {source}, "
        f"and dy is {own:.4g}."
    )
