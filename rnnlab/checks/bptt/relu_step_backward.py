"""One step of a ReLU network backward: the sibling of the tanh step that the lesson takes apart.

Part II of SVAIL's notes writes ReLU's derivative as h in its appendix (eq. 24); it is 1 where h > 0, else 0.
"""

import numpy as np

from rnnlab.checks.bptt.sequence import AXES
from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect

WHAT = ("dx", "dh_before", "dweight_ih", "dweight_hh", "dbias")
STEP_AXES = AXES | {"dx": ("sequence", "input"), "dh_before": ("sequence", "unit")}


def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = dh * (h_after > 0)
    return da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before, da.sum(axis=0)


MUTANTS = (
    Mutant("multiplies by h instead of 1[h>0]", "(h_after > 0)", "h_after"),
    Mutant("lets every gradient through", "(h_after > 0)", "(h_after >= 0)"),
    Mutant("uses tanh's slope", "(h_after > 0)", "(1 - h_after**2)"),
    Mutant("asks h_before whether the unit was on", "(h_after > 0)", "(h_before > 0)"),
    Mutant("forgets the slope on the way to h_before", "da @ weight_hh,", "dh @ weight_hh,"),
    Mutant("transposes the recurrent weights", "da @ weight_hh,", "da @ weight_hh.T,"),
    Mutant("uses h_after instead of h_before in the weight gradient", "da.T @ h_before", "da.T @ h_after"),
    Mutant("transposes the recurrent weight gradient", "da.T @ h_before", "h_before.T @ da"),
    Mutant("averages the bias gradient over the minibatch", "da.sum(axis=0)", "da.mean(axis=0)"),
    Mutant("changes its input", "da = dh * (h_after > 0)", "dh *= h_after > 0\n    da = dh"),
)


def check(submission, rng):
    for B, I, H in ((1, 2, 4), (3, 1, 4), (4, 5, 3), (2, 6, 7)):
        step = _draw(rng, B, I, H)
        wrong = wrong_values(relu_step_backward, MUTANTS[:-1], *step)
        want = relu_step_backward(*step)
        expect(submission(*step), want, axes=STEP_AXES, what=WHAT, case=f"B={B}, I={I}, H={H}", wrong=wrong)


def _draw(rng: np.random.Generator, B: int, I: int, H: int) -> tuple[np.ndarray, ...]:
    """One step's arguments, with units off before and after it, and never the same ones."""
    place = np.add.outer(rng.permutation(B), rng.permutation(H))
    on_before, on_after = place % 3 > 0, place % 2 == 0
    h_before, h_after = (rng.uniform(0.2, 2.0, (B, H)) * on for on in (on_before, on_after))
    weight_hh = rng.standard_normal((H, H))
    dh, x, weight_ih = rng.standard_normal((B, H)), rng.standard_normal((B, I)), rng.standard_normal((H, I))
    return dh, x, h_before, h_after, weight_ih, weight_hh


RELU_STEP_BACKWARD = Exercise(
    name="relu_step_backward",
    points=2,
    difficulty=2,
    minutes=12,
    lines=2,
    hints=(
        "Go backward in the order opposite to the forward step: first through ReLU, from dh to da, the "
        "gradient of a = x·W_ihᵀ + h_before·W_hhᵀ + b. Then from da to each of the five things that a "
        "was made of.",
        "ReLU passes a on where a > 0 and gives 0 elsewhere, so its slope is 1 or 0, nothing between. "
        "You do not have a, but h_after > 0 exactly where a > 0. After that only the shapes differ: "
        "every one of the five results has the shape of the thing it is the gradient of.",
        "`da = dh * (h_after > 0)`. Then dx [B,I] is da [B,H] times weight_ih [H,I]; dh_before is da "
        "times weight_hh; dweight_ih [H,I] is da.T [H,B] times x [B,I]; dweight_hh is da.T times the "
        "state that was multiplied, h_before; the bias was added to every sequence, so dbias adds da up "
        "over the sequences.",
    ),
    check=check,
    truth=relu_step_backward,
    mutants=MUTANTS,
    also_right=(
        """def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = np.where(h_after > 0, dh, 0.0)
    dweight_ih = np.einsum("bj,bi->ji", da, x)
    dweight_hh = np.einsum("bj,bk->jk", da, h_before)
    dx = np.einsum("bj,ji->bi", da, weight_ih)
    return dx, da.dot(weight_hh), dweight_ih, dweight_hh, np.ones(len(da)) @ da
""",
        """def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = dh.copy()
    da[h_after == 0] = 0
    dweight_ih, dweight_hh = np.zeros_like(weight_ih), np.zeros_like(weight_hh)
    dbias = np.zeros(len(weight_hh))
    for b in range(len(x)):
        dweight_ih += np.outer(da[b], x[b])
        dweight_hh += np.outer(da[b], h_before[b])
        dbias += da[b]
    return (weight_ih.T @ da.T).T, (weight_hh.T @ da.T).T, dweight_ih, dweight_hh, dbias
""",
    ),
)
