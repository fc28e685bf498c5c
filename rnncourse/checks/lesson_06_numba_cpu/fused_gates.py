"""A GRU's gates in one loop over its units: the judge hands out single elements and notices a second pass."""

import numpy as np

from nbjudge.comparing.differences import WRONG_TYPE, describe
from nbjudge.comparing.judging import refuse
from nbjudge.comparing.patterns import first_place
from nbjudge.exercise import Wrong
from rnncourse.checks.answers import answers
from rnncourse.checks.lesson_06_numba_cpu.machines import UnitLoop
from rnncourse.checks.lesson_06_numba_cpu.proxies import RowProxy, VectorProxy, Watched, proxies
from rnncourse.checks.results import expect

ANSWERS = answers("06_numba_cpu")
VECTORS = """
g = VectorProxy("g", {rows}, read, write, make)
u = VectorProxy("u", {rows}, read, write, make)
h = VectorProxy("h", {units}, read, write, make)
"""


@ANSWERS.exercise("""
       H  spread
       4       1
       1       1
       5       1
    6:12     250
       n       1
""")
def check_fused_gates(answer, submission, rng, H, spread):
    """`spread`: size of the gates' parts; where it is large, unit 0 gets sums far above 0, unit 1 far below.

    exp(500) fits into a float64, and 1/(1 + exp(-a)) needs no more; exp(1000), as in eᵃ/(1 + eᵃ), overflows.
    """
    case = f"H={H}"
    if spread == 1:
        g, u = rng.normal(size=(2, 3, H))
    else:
        g, u = rng.uniform(-spread, spread, (2, 3, H))
        g[:, :2] = 2 * spread, -spread
        u[:, :2] = 2 * spread, -spread
        largest = 4 * spread
        case += f"; in unit 0 the sums g + u are {largest}, and exp({largest}) is infinity"
    h = rng.uniform(-0.9, 0.9, H)
    arrays = {"g": g.ravel(), "u": u.ravel(), "h": h}
    loop = UnitLoop(H, arrays)
    text = VECTORS.format(rows=3 * H, units=H)
    vectors = proxies((Watched, VectorProxy, RowProxy), text, loop.services)
    want = answer.call(*arrays.values())
    got = submission(vectors["g"], vectors["u"], vectors["h"])
    result = _result(got, loop)
    missing = np.flatnonzero(~loop.written[result])
    unwritten = f"h_next[{missing[0]}] was never written." if len(missing) else None
    if refuse(unwritten, f"H={H}"):
        h_next = loop.vectors[result]

        def advice():
            place = first_place(h_next, want)
            return _gates_of_unit(place, g, u, h)

        expect(h_next, want, "h_next: unit", case, advice=advice)


def _gates_of_unit(place: tuple | None, g: np.ndarray, u: np.ndarray, h: np.ndarray) -> str | None:
    """What the number at that place is made of, from g [3,H], u [3,H] and h [H]."""
    if place is None:
        return None
    (j,) = place
    sums = (g + u)[:2, j]
    r, z = 1 / (1 + np.exp(-sums))
    gain = ANSWERS["fused_gates"].number("gain", 1)
    n = np.tanh(g[2, j] + gain * r * u[2, j])
    return f"In unit {j} r is {r:.6g}, z is {z:.6g}, n is {n:.6g} and h is {h[j]:.6g}."


def _result(got: object, loop: UnitLoop) -> str:
    """The name of the result that was returned."""
    is_name = type(got) is tuple and len(got) == 1 and type(got[0]) is str
    if is_name and got[0] in loop.written:
        return got[0]
    raise Wrong(
        f"It returns {describe(got)}; expected is the array that np.empty_like(h) made.",
        WRONG_TYPE,
        "Begin with h_next = np.empty_like(h), and end with return h_next.",
    )
