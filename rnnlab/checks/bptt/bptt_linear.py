"""The gradient of a whole sequence in one walk back: T calls of the cell's backward, whatever the cell."""

import numpy as np

from rnnlab.checks.bptt.sequence import AXES, RESULTS, Sequence, calls_beyond, draw, with_curvature
from rnnlab.checks.edits import call, wrong_values
from rnnlab.checks.traces import insist_on_trace
from rnnlab.grading.exercise import Exercise, Mutant, Wrong
from rnnlab.grading.judging import expect


def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    dx = np.zeros_like(x)
    dh = np.zeros_like(h[0])
    dweight_ih, dweight_hh = np.zeros_like(weight_ih), np.zeros_like(weight_hh)
    dbias = np.zeros(len(weight_hh))
    for t in reversed(range(len(x))):
        dx[t], dh, *step = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dweight_ih += step[0]
        dweight_hh += step[1]
        dbias += step[2]
    return dx, dh, dweight_ih, dweight_hh, dbias


RESTARTS = "restarts at every loss term"
LOOP = """    for t in reversed(range(len(x))):
        dx[t], dh, *step = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dweight_ih += step[0]
        dweight_hh += step[1]
        dbias += step[2]
"""
TWO_LOOPS = """    dh0 = dh
    for last in range(len(x)):
        dh = dy[last]
        for t in reversed(range(last + 1)):
            dx_t, dh, *step = cell_backward(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
            dx[t] += dx_t
            dweight_ih += step[0]
            dweight_hh += step[1]
            dbias += step[2]
        dh0 = dh0 + dh
    dh = dh0
"""
SUMS = "        dweight_ih += step[0]\n        dweight_hh += step[1]\n        dbias += step[2]\n"
MUTANTS = (
    Mutant(RESTARTS, LOOP, TWO_LOOPS),
    Mutant("drops what comes from later steps, as if truncated at 1 step", "dy[t] + dh", "dy[t]"),
    Mutant("forgets the losses of earlier steps", "dy[t] + dh", "(dy[t] if t + 1 == len(x) else dh)"),
    Mutant(
        "adds dy[t] after the step instead of before it",
        "dy[t] + dh",
        "dh + (dy[t + 1] if t + 1 < len(x) else 0)",
    ),
    Mutant("uses h[t+1] instead of h[t] in the weight gradient", "h[t], h[t + 1]", "h[t + 1], h[t + 1]"),
    Mutant("takes the slope at h[t] instead of h[t+1]", "h[t], h[t + 1]", "h[t], h[t]"),
    Mutant(
        "keeps the parameters' gradients of one step", SUMS, "        dweight_ih, dweight_hh, dbias = step\n"
    ),
    Mutant("walks forward in time", "reversed(range(len(x)))", "range(len(x))"),
    Mutant("adds dy[0] to dh0", "return dx, dh,", "return dx, dh + dy[0],"),
    Mutant(
        "averages over the steps",
        "dweight_ih, dweight_hh, dbias\n",
        "dweight_ih / len(x), dweight_hh / len(x), dbias / len(x)\n",
    ),
)

ALSO_KNOWN = (
    Mutant("leaves out step 0", "range(len(x))", "range(1, len(x))"),
    Mutant("leaves out the last step", "range(len(x))", "range(len(x) - 1)"),
    Mutant("returns dx in reverse order", "return dx,", "return dx[::-1],"),
)


def check(submission, rng):
    drawn = int(rng.integers(6, 10))
    for T, B, I, H in ((1, 1, 2, 3), (3, 1, 2, 3), (5, 2, 1, 4), (drawn, 3, 4, 2)):
        sequence = draw(rng, T, B, I, H)
        want = call(bptt_linear, sequence)
        got = submission(*sequence)
        try:
            expect(
                got, want, axes=AXES, what=RESULTS, case=f"T={T}, B={B}, I={I}, H={H}", wrong=_wrong(sequence)
            )
        except Wrong as wrong:
            raise _counted(wrong, T, calls_beyond(got, want, T)) from None
        insist_on_trace(sequence.cell_backward.trace, bptt_linear, sequence, f"T={T}, B={B}, I={I}, H={H}")


def _wrong(sequence: Sequence) -> dict:
    tanh = "computes tanh's gradient itself instead of calling cell_backward"
    wrong = wrong_values(bptt_linear, (*MUTANTS, *ALSO_KNOWN), *sequence)
    return wrong | {tanh: lambda: call(bptt_linear, with_curvature(sequence, 1))}


def _counted(wrong: Wrong, T: int, extra: int) -> Wrong:
    """The same verdict, with the number of calls where that is what is wrong."""
    if wrong.misconception != RESTARTS and not extra:
        return wrong
    return Wrong(
        f"cell_backward ran {T + extra} times for T={T}. One walk from the last step to the first needs {T}.",
        RESTARTS if wrong.misconception == RESTARTS else wrong.misconception,
        "Two gradients that arrive at the same h[t+1] can be added first and walk on together: "
        "what comes from later steps, and dy[t].",
    )


BPTT_LINEAR = Exercise(
    name="bptt_linear",
    points=4,
    difficulty=3,
    minutes=20,
    lines=9,
    hints=(
        "Start from bptt_quadratic above and look at what its walks do at one step t: all of them run "
        "the same cell_backward there, only with another dh. cell_backward is linear in dh.",
        "Because it is linear, the dh of all walks can be added before the step instead of after it. So "
        "walk once, from the last step to the first, carrying one dh. At step t, h[t+1] is touched by "
        "two things: the step after it (the dh you carry) and its own loss (dy[t]).",
        "`for t in reversed(range(len(x))):` with `dx[t], dh, *step = cell_backward(dy[t] + dh, x[t], "
        "h[t], h[t + 1], weight_ih, weight_hh)`, adding the three entries of step to three arrays of "
        "zeros. dh starts as zeros; what is left of it after step 0 is dh0.",
    ),
    check=check,
    truth=bptt_linear,
    mutants=MUTANTS,
    also_right=(
        """def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    dx, dh, totals = [], 0.0, None
    for t in range(len(x) - 1, -1, -1):
        dx_t, dh, *step = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dx.append(dx_t)
        totals = step if totals is None else [total + part for total, part in zip(totals, step)]
    return np.stack(dx[::-1]), dh, *totals
""",
        """def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    def walk(t, dh):
        if t < 0:
            return [], dh, np.zeros(weight_ih.shape), np.zeros(weight_hh.shape), np.zeros(weight_hh.shape[0])
        dx_t, dh, a, b, c = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dx, dh0, da, db, dc = walk(t - 1, dh)
        return [*dx, dx_t], dh0, da + a, db + b, dc + c

    dx, *rest = walk(len(x) - 1, np.zeros(h.shape[1:]))
    return np.array(dx), *rest
""",
    ),
)
