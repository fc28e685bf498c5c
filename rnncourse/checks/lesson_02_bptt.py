"""Checks of lesson 02: a step backward, a gradient tested, a sequence backward, a sequence cut short."""

from collections.abc import Callable
from functools import partial

import numpy as np

from nbjudge.comparing.differences import same
from nbjudge.comparing.judging import refuse
from nbjudge.exercise import Code, Proxy, Wrong
from nbjudge.printable import quantity
from rnncourse.checks.answers import ModelAnswer, answers, load
from rnncourse.checks.results import compare, expect, is_array
from rnncourse.checks.traces import close, require_calls, trace_of
from rnnlab.compare import first_difference

ANSWERS = answers("02_bptt")
WEIGHTS = "dweight_ih: unit, input; dweight_hh: unit, unit read; dbias: unit"
STEP_RESULTS = f"dx: sequence, input; dh_before: sequence, unit; {WEIGHTS}"
RESULTS = f"dx: step, sequence, input; dh0: sequence, unit; {WEIGHTS}"


@ANSWERS.exercise("""
    B  I  H
    3  1  4
    1  2  4
    4  5  3
    2  6  7
    3  2  1
    n  2  3
""")
def check_relu_step_backward(answer, submission, rng, B, I, H):
    """Units are off before and after the step, and never the same ones; others are on by very little."""
    place = np.add.outer(rng.permutation(B), rng.permutation(H))
    on_before = place % 3 > 0
    on_after = place % 2 == 0
    h_before = 10 ** rng.uniform(-3, 0.3, (B, H)) * on_before
    h_after = 10 ** rng.uniform(-3, 0.3, (B, H)) * on_after
    weight_hh = rng.standard_normal((H, H))
    dh = rng.standard_normal((B, H))
    x = rng.standard_normal((B, I))
    weight_ih = rng.standard_normal((H, I))
    step = dh, x, h_before, h_after, weight_ih, weight_hh
    advice = partial(_wrong_units, dh=dh, h_after=h_after)
    compare(answer, submission, step, STEP_RESULTS, advice)


def _wrong_units(got: tuple, want: tuple, dh: np.ndarray, h_after: np.ndarray) -> str | None:
    """The first unit at which the bias gradient, the sum of what arrives in front of ReLU, is wrong."""
    *parts, dbias = got
    *right_parts, right_dbias = want
    if not is_array(dbias, right_dbias.shape):
        return None
    wrong = np.flatnonzero(~np.isclose(dbias, right_dbias))
    if not len(wrong):
        return "dbias shows that the gradient before ReLU is right: look at what is computed from it."
    pairs = zip(parts, right_parts, strict=True)
    if any(same(part, right, None) for part, right in pairs):
        return "The other results show that the gradient before ReLU is right: look at the sum in dbias."
    unit = wrong[0]

    def listed(states):
        return ", ".join(f"{number:.3g}" for number in states[:, unit])

    return (
        f"dbias shows that the gradient before ReLU is wrong at unit {unit}: there dh is "
        f"{listed(dh)} and h_after {listed(h_after)}."
    )


# Not a sum over the entries, so that one left moved changes the next; curved, so that the size of eps shows.
LOSS = """
def loss(array):
    return float(np.sin({a} * array).sum() + {b} * array.sum() ** 3 + {c} * (array[0] * array[-1]).sum())
"""


@ANSWERS.exercise("""
    shape     eps  scale  is_view
    (2,3)    0.25
    (1,)      0.2
    (4,1)     0.1    5.0
    (3,2,2)  0.15
    (3,4)     0.2    1.0     True
    (n,)      0.2
""")
def check_gradient_check(answer, submission, rng, shape, eps, scale=1.0, is_view=False):
    """`scale`: where entries are above 1, a step in units of the entry is another step.

    `is_view`: the array is the transposed view of another one, so that reshape(-1) and ravel() copy it.
    """
    a, b, c = (round(number, 3) for number in rng.uniform(0.5, 1.5, 3).tolist())
    source = LOSS.format(a=a, b=b, c=c)
    loss = Code(source, "loss")
    array = scale * rng.uniform(0.2, 1.0, shape)
    exact, _ = answer.call(loss, array, array, 1e-5)
    gradient = exact * rng.uniform(0.7, 1.2, shape)
    want = answer.call(loss, array, gradient, eps)
    kind = ""
    argument: np.ndarray | Proxy = array
    if is_view:
        kind = ", a transposed view"
        transposed = array.T.tolist()
        argument = Proxy(f"array = np.array({transposed}).T", "array")
    got = submission(loss, argument, gradient, eps)

    def advice():
        numeric = got[0]
        if is_view:
            return _copied(numeric)
        return _moved_at_once(numeric, loss, array, eps) or _norms(numeric, want[0], gradient)

    expect(got, want, "numeric; error", f"array of shape {shape}{kind}, eps={eps}", advice=advice)


def _copied(numeric: np.ndarray) -> str | None:
    """The usual reason why no change of a view reaches the loss."""
    if numeric.any():
        return None
    return (
        "reshape(-1), ravel() and flatten() of a transposed view are copies: loss(array) never sees a change "
        "there."
    )


def _moved_at_once(numeric: np.ndarray, loss: Code, array: np.ndarray, eps: float) -> str | None:
    """Whether each number is what the loss changes by where all entries move together."""
    above = load(loss)(array + eps)
    below = load(loss)(array - eps)
    slope = (above - below) / (2 * eps)
    if array.size == 1 or not np.allclose(numeric, slope):
        return None
    return f"all {array.size} entries moved together: change one entry of array.copy() at a time."


def _norms(got: np.ndarray, numeric: np.ndarray, gradient: np.ndarray) -> str | None:
    """What the error is made of, where the differences are right."""
    if not np.allclose(got, numeric):
        return None
    difference = gradient - numeric
    above = np.linalg.norm(difference.ravel())
    below = np.linalg.norm(numeric.ravel())
    return (
        f"print both norms, over all entries: ‖gradient − numeric‖ is {above:.4g} and ‖numeric‖ {below:.4g}."
    )


# The cell's slope is 1 − k·h² with k drawn afresh, so that tanh's own 1 − h² gives other numbers. A call
# beyond the T-th adds far more than any gradient here, and far less than where float64 would lose it.
SURCHARGE = 1000.0
COUNTED_CELL = """
calls = 0

def cell_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    global calls
    calls += 1
    trace.append(("cell_backward", dh, x, h_before, h_after))
    da = dh * (1 - {curvature} * h_after * h_after)
    dbias = da.sum(axis=0) + {surcharge} * (calls > {allowed})
    return da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before, dbias
"""


def draw_sequence(rng: np.random.Generator, T: int, B: int, I: int, H: int) -> tuple:
    """A cell's backward step, x [T,B,I], h [T+1,B,H], dy [T,B,H], weight_ih [H,I], weight_hh [H,H].

    The states are of no network in particular: a sweep must be right for whatever cell it is given.
    """
    curvature = round(rng.uniform(0.5, 0.8), 3)
    source = COUNTED_CELL.format(curvature=curvature, surcharge=SURCHARGE, allowed=T)
    x = rng.standard_normal((T, B, I))
    h = rng.uniform(-0.9, 0.9, (T + 1, B, H))
    dy = rng.standard_normal((T, B, H))
    weight_ih = rng.standard_normal((H, I))
    weight_hh = rng.standard_normal((H, H)) / np.sqrt(H)
    return Code(source, "cell_backward", []), x, h, dy, weight_ih, weight_hh


def surplus_calls(got: object, want: tuple) -> int:
    """Calls of cell_backward after its T-th, read off the surcharge on dbias; 0 if it cannot be read."""
    if not isinstance(got, tuple) or len(got) != len(want):
        return 0
    dbias = got[-1]
    right_dbias = want[-1]
    if not is_array(dbias, right_dbias.shape) or not np.isfinite(dbias).all():
        return 0
    extra = np.rint((dbias - right_dbias) / SURCHARGE)
    is_surcharge = (extra == extra[0]).all()
    return max(0, int(extra[0])) if is_surcharge else 0


@ANSWERS.exercise("""
       T  B  I  H
       3  1  2  3
       1  1  2  3
       5  2  1  4
    6:10  3  4  2
       n  2  3  4
""")
def check_bptt_linear(answer, submission, rng, T, B, I, H):
    _compare_sweeps(
        submission,
        answer,
        draw_sequence(rng, T, B, I, H),
        "One pass from the last step to the first needs {T}.",
        "Two gradients that arrive at the same h[t+1] can be added first and go back together: "
        "what comes from later steps, and dy[t].",
    )


@ANSWERS.exercise("""
       T  B  I  H  chunk
       5  1  2  3      3
       1  1  2  3      1
       6  2  1  4      2
       7  2  2  3      3
       4  2  3  2      9
    7:10  3  4  2    2:5
       n  2  3  4      7
""")
def check_bptt_truncated(answer, submission, rng, T, B, I, H, chunk):
    _compare_sweeps(
        submission,
        answer,
        (*draw_sequence(rng, T, B, I, H), chunk),
        "Chunks cut one sweep of {T} steps, they do not restart it.",
        "Go once from the last step to the first; where a chunk ends, start with an empty dh.",
    )


def _compare_sweeps(
    submission: Callable, answer: ModelAnswer, arguments: tuple, limit: str, next_step: str
) -> None:
    """Compares gradients, then calls; limit and next step: of an answer with more calls than steps."""
    cell, x, *_ = arguments
    T = len(x)
    want = answer.call(*arguments)
    got = submission(*arguments)
    if extra := surplus_calls(got, want):
        times = quantity(T + extra, "time")
        needed = limit.format(T=T)
        problem = Wrong(f"cell_backward ran {times} for T={T}. {needed}", next_step=next_step)
        refuse(problem, result=got)
    elif expect(got, want, RESULTS, advice=partial(_first_wrong_call, answer, arguments)):
        require_calls(answer, cell.trace, arguments)


def _first_wrong_call(answer: ModelAnswer, arguments: tuple) -> str:
    """What the first wrong call of cell_backward gets, or the steps without one."""
    cell, x, h, *_ = arguments
    T = len(x)
    left = set(range(T))
    right_calls = trace_of(answer, arguments)
    for _, dh, x_step, h_before, h_after in cell.trace:
        step = next((t for t in range(T) if close(x_step, x[t])), None)
        if step is None:
            return "call cell_backward with x[t], the input of one step of all sequences."
        right_dh = next(call[1] for call in right_calls if close(call[2], x[step]))
        comparisons = (
            ("dh", dh, right_dh),
            ("h_before", h_before, h[step]),
            ("h_after", h_after, h[step + 1]),
        )
        for name, got, want in comparisons:
            if not close(got, want):
                where = first_difference(np.asarray(got), want, ("sequence", "unit"))
                return f"print {name} at step {step}, where cell_backward gets another one: it {where}."
        left.discard(step)
    if left:
        steps = ", ".join(map(str, sorted(left)))
        return f"call cell_backward for step {steps}, too."
    return "all calls of cell_backward are right: look at what you make of their results."
