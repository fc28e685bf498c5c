"""tanh as a quotient of two polynomials, in float32: right at every point that bites, and counted."""

import numpy as np

from nbjudge.comparing.differences import WRONG_TYPE, describe
from nbjudge.comparing.judging import keep_costs, refuse
from nbjudge.exercise import Wrong
from rnncourse.checks.answers import answers
from rnncourse.checks.lesson_06_numba_cpu.machines import Arithmetic
from rnncourse.checks.lesson_06_numba_cpu.proxies import BATCH, NUMBERS, proxies
from rnncourse.lambert import lambert

ULPS = 8.0  # allowed; the quotient's own error, rounding included, stays below 6
COMPARISONS = 8  # allowed at a point: each gives the answer one bit of it, and two are needed
OPERATIONS = 3  # allowed for each coefficient; Horner's rule takes two
EDGE = 9.02  # from here on tanh is 1 in float32
EDGES = "1e-30 -1e-6 8.9 -8.9 9.2 -9.2 40 -40 3e38 -3e38 inf -inf 0 -0.0 nan"
LEVELS = 13, 14, 15  # of the continued fraction: fewer are too few for EDGE
CASES = (*((levels,) for levels in LEVELS), (LEVELS[0], 2.0**40))  # the last: LEVELS[0] again, scaled


@answers("06_numba_cpu").exercise(CASES)
def check_fast_tanh(answer, submission, rng, levels, scale=1.0):
    """One set of coefficients at points of every kind: the values, and what they took.

    scale: of both polynomials.  Where it is large, a tiny number divided by Q underflows.
    """
    numerator, denominator = lambert(levels)
    odd = tuple(scale * number for number in numerator)
    even = tuple(scale * number for number in denominator)
    points = _points(rng)
    computed = [_computed(submission, point, odd, even) for point in points]
    results, all_operations, all_divisions = zip(*computed, strict=True)
    values = np.array(results)
    case = f"{len(odd)} and {len(even)} coefficients"
    # on a logarithmic scale, and with the sign of zero
    is_negative = np.signbit(values) & ~np.isnan(values)
    result = {"size": np.arcsinh(values), "negative": is_negative}
    wrong_value = _wrong_value(points, values, odd, even)
    refuse(wrong_value, case, result, tolerance=1e-4)
    operations = max(all_operations)
    divisions = max(all_divisions)
    surplus = _too_many(operations, divisions, len(odd) + len(even))
    refuse(surplus, case, (operations, divisions))


def _points(rng: np.random.Generator) -> np.ndarray:
    """float32: ordinary ones first, then the edges of the range, then what a formula forgets."""
    ordinary = rng.normal(size=40) * np.geomspace(0.1, 6, 40)
    signs = rng.choice((-1, 1), 12)
    small = signs * np.geomspace(1e-4, 0.3, 12) * rng.uniform(0.8, 1.2, 12)
    edges = map(float, EDGES.split())
    return np.array([*ordinary, *small, *edges], dtype="float32")


def _computed(submission, point: np.float32, odd: tuple, even: tuple) -> tuple[float, int, int]:
    """(value, operations, divisions) of the answer at a point; the point itself never leaves the judge."""
    judge = Arithmetic(np.float32, (point,), COMPARISONS)
    text = f"tape = Tape({BATCH}, perform, compare, 1)\na = Number(tape, 0)\n"
    number = proxies(NUMBERS, text, judge.services)["a"]
    got = submission(number, odd, even, EDGE)
    counts = judge.operations, judge.divisions
    keep_costs({"operation on a number": judge.operations, "division": judge.divisions})
    values = judge.values
    is_number = type(got) is tuple and len(got) == 1 and type(got[0]) is int
    if is_number and 0 <= got[0] < len(values):
        return float(values[got[0]]), *counts
    if isinstance(got, float | int | np.floating):
        return float(got), *counts
    raise Wrong(f"It returns {describe(got)} instead of a number.", WRONG_TYPE)


def _wrong_value(points: np.ndarray, values: np.ndarray, odd: tuple, even: tuple) -> str | None:
    """The first point at which the value is wrong, as a sentence, and its quotient."""
    want = np.tanh(points.astype("float64"))
    spacing = np.spacing(np.abs(want).astype("float32"))
    with np.errstate(invalid="ignore"):
        ulps = np.abs(values - want) / spacing
    same_sign = np.signbit(values) == np.signbit(want)
    both_nan = np.isnan(values) & np.isnan(want)
    right = (ulps <= ULPS) & same_sign | both_nan
    if right.all():
        return None
    first = int(np.argmin(right))
    point = points[first]
    distance = ulps[first]
    off = ""
    if distance > ULPS:
        off = f", {distance:.3g} ulps off; {ULPS:g} are allowed"
    quotient = ""
    a = float(np.clip(point, -EDGE, EDGE))
    if np.isfinite(a):
        numerator = a * _polynomial(odd, a * a)
        denominator = _polynomial(even, a * a)
        quotient = f" There a·P(a²) is {numerator:.8g} and Q(a²) {denominator:.8g}."
    own = values[first]
    right_value = want[first]
    return f"tanh({point:.8g}) is {own:.8g} instead of {right_value:.8g}{off}.{quotient}"


def _polynomial(coefficients: tuple, x: float) -> float:
    """A polynomial at x, in float64."""
    return np.polynomial.polynomial.polyval(x, np.array(coefficients, float))


def _too_many(operations: int, divisions: int, coefficients: int) -> Wrong | None:
    """Operations or divisions beyond what is allowed."""
    if divisions > 1:
        return Wrong(
            f"It divides {divisions} times; a division takes as long as several multiplications.",
            None,
            "Work out numerator and denominator first, then divide once.",
        )
    allowed = OPERATIONS * coefficients
    needed = 2 * coefficients
    if operations > allowed:
        return Wrong(
            f"It takes {operations} operations for {coefficients} coefficients; "
            f"{allowed} are allowed, and about {needed} are needed.",
            None,
            "Horner's rule: begin with the last coefficient, then times a² plus the one before.",
        )
    return None
