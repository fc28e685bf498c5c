"""tanh as a quotient of two polynomials, in float32: right at every point that bites, and counted."""

import numpy as np

from rnnlab.checks.edits import edited, loaded
from rnnlab.checks.numba_cpu.lambert import lambert
from rnnlab.checks.numba_cpu.machines import Arithmetic
from rnnlab.checks.numba_cpu.shells import BATCH, LIBRARY, Number, Tape, shells
from rnnlab.grading.differences import WRONG_TYPE, describe
from rnnlab.grading.exercise import Code, Exercise, Mutant, Wrong

ULPS = 8.0  # allowed; the quotient's own error, rounding included, stays below 6
COMPARISONS = 8  # allowed at a point: each tells the answer one bit of it, and two are needed
OPERATIONS = 3  # allowed for each coefficient; Horner's rule takes two
EDGE = 9.02  # from here on tanh is 1 in float32
LEVELS = 13, 14, 15  # of the continued fraction: fewer are too few for EDGE
DIVIDES = "divides more than once"
POWERS = "makes each power afresh"
TRUTH = """def fast_tanh(a, odd, even, edge):
    a = edge if a > edge else a
    a = -edge if a < -edge else a
    z = a * a
    top, bottom = odd[-1], even[-1]
    for k in range(len(odd) - 2, -1, -1):
        top = top * z + odd[k]
    for k in range(len(even) - 2, -1, -1):
        bottom = bottom * z + even[k]
    return a * top / bottom
"""
fast_tanh = loaded(Code(TRUTH, "fast_tanh"))

HIGH, LOW = "    a = edge if a > edge else a\n", "    a = -edge if a < -edge else a\n"
RESULT = "return a * top / bottom"
COUNTED = (
    Mutant(LIBRARY, RESULT, "return np.tanh(a)"),
    Mutant(
        DIVIDES,
        "    z = a * a\n",
        "    f = 25.0\n    for c in range(23, 0, -2):\n        f = c + a * a / f\n"
        "    return a / f\n    z = 0\n",
    ),
    Mutant(
        POWERS,
        "    for k in range(len(odd) - 2, -1, -1):\n        top = top * z + odd[k]\n",
        "    top = 0\n    for k in range(len(odd)):\n        top = top + odd[k] * a ** (2 * k)\n",
    ),
)
VALUES = (
    Mutant("turns NaN into a number", HIGH, "    a = a if a < edge else edge\n"),
    Mutant("does not saturate", HIGH + LOW, ""),
    Mutant("saturates on the positive side only", LOW, ""),
    Mutant("forgets the sign where it saturates", HIGH + LOW, "    if abs(a) > edge:\n        return 1.0\n"),
    Mutant("forgets that the numerator is odd", RESULT, "return top / bottom"),
    Mutant(
        "takes the coefficients in reverse", "    z = ", "    odd, even = odd[::-1], even[::-1]\n    z = "
    ),
    Mutant("loses the sign of −0", RESULT, "return 0 + a * top / bottom"),
)


def check(submission, rng):
    for levels in LEVELS:
        odd, even = lambert(levels)
        points = _points(rng)
        got = [_computed(submission, point, odd, even) for point in points]
        values = np.array([value for value, _, _ in got])
        _judge_values(points, values, odd, even)
        _judge_counts(got, len(odd) + len(even))


def _points(rng: np.random.Generator) -> np.ndarray:
    """float32: ordinary ones first, then the edges of the range, then what a formula forgets."""
    ordinary = rng.normal(size=40) * np.geomspace(0.1, 6, 40)
    edges = [1e-30, -1e-6, 8.9, -8.9, 9.2, -9.2, 40.0, -40.0, 3e38, -3e38, np.inf, -np.inf]
    return np.array([*ordinary, *edges, 0.0, -0.0, np.nan], dtype="float32")


def _computed(submission, point: np.float32, odd: tuple, even: tuple) -> tuple[float, int, int]:
    """(value, operations, divisions) of the answer at a point; the point itself never leaves the judge."""
    judge = Arithmetic(np.float32, (point,), COMPARISONS)
    text = f"tape = Tape({BATCH}, perform, compare, None, 1)\na = Number(tape, 0)\n"
    got = submission(shells((Tape, Number), text, judge.services)["a"], odd, even, EDGE)
    counts = judge.operations, judge.divisions
    if type(got) is tuple and len(got) == 1 and type(got[0]) is int and 0 <= got[0] < len(judge.values):
        return float(judge.values[got[0]]), *counts
    if isinstance(got, float | int | np.floating):
        return float(got), *counts
    raise Wrong(f"It returns {describe(got)} instead of a number.", WRONG_TYPE)


def _judge_values(points: np.ndarray, values: np.ndarray, odd: tuple, even: tuple) -> None:
    want = np.tanh(points.astype("float64"))
    with np.errstate(invalid="ignore"):
        ulps = np.abs(values - want) / np.spacing(np.abs(want).astype("float32"))
    right = (ulps <= ULPS) & (np.signbit(values) == np.signbit(want)) | (np.isnan(values) & np.isnan(want))
    if right.all():
        return
    first = int(np.argmin(right))
    off = f", {ulps[first]:.3g} ulps off; {ULPS:g} are allowed" if ulps[first] > ULPS else ""
    raise Wrong(
        f"tanh({points[first]:.8g}) is {values[first]:.8g} instead of {want[first]:.8g}{off}.",
        _misconception(points, values, odd, even),
    )


def _misconception(points: np.ndarray, values: np.ndarray, odd: tuple, even: tuple) -> str | None:
    """The known mistake that gives the same numbers at every point."""
    with np.errstate(all="ignore"):
        for mutant in VALUES:
            wrong = loaded(Code(edited(TRUTH, mutant), "fast_tanh"))
            if _alike(np.array([wrong(point, odd, even, EDGE) for point in points], "float64"), values):
                return mutant.name
    return None


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    signs = (np.signbit(one) == np.signbit(other)) | np.isnan(one)
    return bool((np.isclose(one, other, rtol=1e-4, atol=0, equal_nan=True) & signs).all())


def _judge_counts(got: list[tuple[float, int, int]], coefficients: int) -> None:
    operations, divisions = (max(each[k] for each in got) for k in (1, 2))
    if divisions > 1:
        said = f"It divides {divisions} times; a division takes as long as several multiplications."
        raise Wrong(said, DIVIDES, "Work out numerator and denominator first, then divide once.")
    if operations > OPERATIONS * coefficients:
        raise Wrong(
            f"It takes {operations} operations for {coefficients} coefficients; "
            f"{OPERATIONS * coefficients} are allowed, and about {2 * coefficients} are needed.",
            POWERS,
            "Horner's rule: begin with the last coefficient, then times a² plus the one before.",
        )


FAST_TANH = Exercise(
    name="fast_tanh",
    points=3,
    difficulty=3,
    minutes=25,
    lines=9,
    hints=(
        "Three parts: bring a into the range where the quotient is right; work out two polynomials in a²; "
        "divide. Which comparison lets a NaN pass, and which one replaces it by edge?",
        "Horner's rule for coefficients c0, c1, c2 and z = a²: ((c2·z) + c1)·z + c0, from the last one "
        "down. The numerator is a times its polynomial: that makes the function odd, and keeps −0.",
        "`a = edge if a > edge else a`, the same for -edge with `<`; `top = odd[-1]`, then for k from "
        "len(odd) - 2 down to 0: `top = top * z + odd[k]`; the same with even; `return a * top / bottom`.",
    ),
    check=check,
    truth=fast_tanh,
    mutants=(*COUNTED, *VALUES),
    also_right=(
        """def horner(coefficients, z):
    total = 0.0
    for c in reversed(coefficients):
        total = z * total + c
    return total

def fast_tanh(a, odd, even, edge):
    if a > edge:
        return 1.0
    if a < -edge:
        return -1.0
    return (a * horner(odd, a * a)) / horner(even, a * a)
""",
        """def fast_tanh(a, odd, even, edge):
    a = max(-edge, min(edge, a)) if a == a else a
    z, power, top, bottom = a * a, 1.0, 0.0, 0.0
    for k in range(max(len(odd), len(even))):
        if k < len(odd):
            top = top + np.float32(odd[k]) * power
        if k < len(even):
            bottom = bottom + np.float32(even[k]) * power
        power = power * z
    return a * (top / bottom)
""",
    ),
)
