"""Truncation by chunks: the walk forgets at every boundary. Its sibling, a window a loss, is given."""

import numpy as np

from rnnlab.checks.bptt.sequence import AXES, RESULTS, calls_beyond, draw
from rnnlab.checks.edits import call, wrong_values
from rnnlab.checks.traces import insist_on_trace
from rnnlab.grading.exercise import Exercise, Mutant, Wrong
from rnnlab.grading.judging import expect


def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    dx = np.zeros_like(x)
    dh = np.zeros_like(h[0])
    dweight_ih, dweight_hh = np.zeros_like(weight_ih), np.zeros_like(weight_hh)
    dbias = np.zeros(len(weight_hh))
    for t in reversed(range(len(x))):
        if (t + 1) % chunk == 0:
            dh = np.zeros_like(dh)
        dx[t], dh, *step = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dweight_ih += step[0]
        dweight_hh += step[1]
        dbias += step[2]
    return dx, dh, dweight_ih, dweight_hh, dbias


CUT = "(t + 1) % chunk == 0"
LOOP = """    for t in reversed(range(len(x))):
        if (t + 1) % chunk == 0:
            dh = np.zeros_like(dh)
        dx[t], dh, *step = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dweight_ih += step[0]
        dweight_hh += step[1]
        dbias += step[2]
"""
WINDOWS = """    dh0 = dh
    for last in range(len(x)):
        dh = dy[last]
        for t in reversed(range(max(0, last + 1 - chunk), last + 1)):
            dx_t, dh, *step = cell_backward(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
            dx[t] += dx_t
            dweight_ih += step[0]
            dweight_hh += step[1]
            dbias += step[2]
        dh0 = dh0 + dh * (last < chunk)
    dh = dh0
"""
MUTANTS = (
    Mutant("looks back a window from every loss instead of cutting into chunks", LOOP, WINDOWS),
    Mutant("never cuts", CUT, "False"),
    Mutant("cuts at every step, as if chunk were 1", CUT, "True"),
    Mutant("cuts one step away from the boundary", CUT, "t % chunk == 0"),
    Mutant("counts the chunks from the end of the sequence", CUT, "(len(x) - 1 - t) % chunk == 0"),
    Mutant("drops the loss at the last step of each chunk", "dh = np.zeros_like(dh)", "dh = -dy[t]"),
    Mutant("drops dh0", "return dx, dh,", "return dx, np.zeros_like(dh),"),
    Mutant("leaves out the last, shorter chunk", "range(len(x))", "range(len(x) // chunk * chunk)"),
    Mutant("uses h[t+1] instead of h[t] in the weight gradient", "h[t], h[t + 1]", "h[t + 1], h[t + 1]"),
)

ALSO_KNOWN = (
    Mutant(
        "goes back through the last chunk only",
        "range(len(x))",
        "range((len(x) - 1) // chunk * chunk, len(x))",
    ),
    Mutant("restarts the chunks at step 1", CUT, "t % chunk == 0 and t > 0"),
    Mutant("returns dx in reverse order", "return dx,", "return dx[::-1],"),
)


def check(submission, rng):
    T_drawn, chunk_drawn = int(rng.integers(7, 10)), int(rng.integers(2, 5))
    cases = (
        (1, 1, 2, 3, 1),
        (5, 1, 2, 3, 3),
        (6, 2, 1, 4, 2),
        (4, 2, 3, 2, 9),
        (T_drawn, 3, 4, 2, chunk_drawn),
    )
    for T, B, I, H, chunk in cases:
        arguments = (*draw(rng, T, B, I, H), chunk)
        want = call(bptt_truncated, arguments)
        known = wrong_values(bptt_truncated, (*MUTANTS, *ALSO_KNOWN), *arguments)
        case = f"T={T}, B={B}, I={I}, H={H}, chunk={chunk}"
        got = submission(*arguments)
        try:
            expect(got, want, axes=AXES, what=RESULTS, case=case, wrong=known)
        except Wrong as wrong:
            extra = calls_beyond(got, want, T)
            raise (wrong if wrong.misconception or not extra else _too_many(T, extra)) from None
        insist_on_trace(arguments[0].trace, bptt_truncated, arguments, case)


def _too_many(T: int, extra: int) -> Wrong:
    return Wrong(
        f"cell_backward ran {T + extra} times for T={T}: chunks cut one walk of {T} steps, they do not "
        "restart it.",
        next_step="Walk once from the last step to the first; where a chunk ends, start with an empty dh.",
    )


BPTT_TRUNCATED = Exercise(
    name="bptt_truncated",
    points=3,
    difficulty=3,
    minutes=15,
    lines=11,
    hints=(
        "Your bptt_linear is nearly the answer: one walk, T calls. What is new is only what crosses "
        "from one chunk to the chunk before it: nothing.",
        "Chunks are counted from the first step: steps 0 … chunk−1, then chunk … 2·chunk−1, and the "
        "last one may be shorter. Before you go back through the last step of a chunk, the dh you carry "
        "belongs to the next chunk: forget it. The chunk's own loss dy[t] stays.",
        "Step t is the last of its chunk where `(t + 1) % chunk == 0`: there, set `dh = "
        "np.zeros_like(dh)` before `cell_backward(dy[t] + dh, ...)`. Nothing is cut in front of step 0: "
        "dh0 is the gradient that the first chunk gives.",
    ),
    check=check,
    truth=bptt_truncated,
    mutants=MUTANTS,
    also_right=(
        """def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    T = len(x)
    dx = np.zeros(x.shape)
    total = [np.zeros(weight_ih.shape), np.zeros(weight_hh.shape), np.zeros(weight_hh.shape[0])]
    for start in range(0, T, chunk):
        dh = np.zeros(h[0].shape)
        for t in range(min(start + chunk, T) - 1, start - 1, -1):
            dx[t], dh, *step = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
            total = [old + new for old, new in zip(total, step)]
        if start == 0:
            dh0 = dh
    return dx, dh0, *total
""",
        """def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    steps, dh = [], None
    for t in range(len(x))[::-1]:
        same_chunk = dh is not None and t // chunk == (t + 1) // chunk
        arriving = dy[t] + dh if same_chunk else dy[t]
        steps.append(cell_backward(arriving, x[t], h[t], h[t + 1], weight_ih, weight_hh))
        dh = steps[-1][1]
    columns = list(zip(*steps))
    return np.array(columns[0][::-1]), dh, *(sum(column) for column in columns[2:])
""",
    ),
)
