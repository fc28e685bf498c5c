"""A GRU's gates in one loop over its units: the judge hands out single elements and notices a second walk."""

import numpy as np

from rnnlab.checks.answers import answers
from rnnlab.checks.numba_cpu.machines import Walk
from rnnlab.checks.numba_cpu.shells import Row, Vector, Watched, shells
from rnnlab.grading.differences import WRONG_TYPE, describe
from rnnlab.grading.exercise import Wrong
from rnnlab.grading.judging import expect, refuse

VECTORS = """
g = Vector("g", {rows}, read, write, make)
u = Vector("u", {rows}, read, write, make)
h = Vector("h", {units}, read, write, make)
"""


def draw_cases(rng) -> tuple:
    """H, and the size of the gates' parts."""
    return (4, 1), (1, 1), (5, 1), (int(rng.integers(6, 12)), 100)


def check(submission, rng, H, spread):
    g, u = spread * rng.normal(size=(2, 3 * H))
    h = rng.uniform(-0.9, 0.9, H)
    walk = Walk(H, {"g": g, "u": u, "h": h})
    vectors = shells((Watched, Vector, Row), VECTORS.format(rows=3 * H, units=H), walk.services)
    want = answers("numba_cpu")["fused_gates"].call(g, u, h)
    result = _result(submission(vectors["g"], vectors["u"], vectors["h"]), walk)
    missing = np.flatnonzero(~walk.written[result])
    unwritten = f"h_next[{missing[0]}] was never written." if len(missing) else None
    if refuse(unwritten, f"H={H}"):
        expect(walk.vectors[result], want, axes=("unit",), what="h_next", case=f"H={H}")


def _result(got: object, walk: Walk) -> str:
    """The name of the result that was returned."""
    if type(got) is tuple and len(got) == 1 and type(got[0]) is str and got[0] in walk.written:
        return got[0]
    raise Wrong(
        f"It returns {describe(got)}; expected is the array that np.empty_like(h) made.",
        WRONG_TYPE,
        "Begin with h_next = np.empty_like(h), and end with return h_next.",
    )
