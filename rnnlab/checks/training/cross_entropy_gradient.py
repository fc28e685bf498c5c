"""cross_entropy_gradient: what a wrong guess of the next character pulls at, for outputs of any size."""

import numpy as np

from rnnlab.grading.exercise import Exercise, Mutant, Wrong
from rnnlab.grading.judging import expect

OVERFLOW = "lets exp overflow"


def cross_entropy_gradient(logits, target):
    T, B, O = logits.shape
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    probabilities = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return (probabilities - np.eye(O, dtype=logits.dtype)[target]) / (T * B)


def check(submission, rng):
    for T, B, O, dtype in ((1, 1, 2, "float64"), (3, 2, 4, "float64"), (2, 5, 3, "float32")):
        _check_case(submission, rng.standard_normal((T, B, O)).astype(dtype), rng.integers(O, size=(T, B)))
    # each step has its own far level: no single number subtracted from all of them keeps exp in range
    level = 900.0 * rng.permutation([-1, 0, 1, 2])[:, np.newaxis, np.newaxis]
    try:
        _check_case(
            submission,
            level + rng.standard_normal((4, 2, 3)),
            rng.integers(3, size=(4, 2)),
            "outputs near 900",
        )
    except Wrong as wrong:
        raise _overflow(wrong) from wrong


def _check_case(submission, logits, target, note=""):
    T, B, O = logits.shape
    want = cross_entropy_gradient(logits, target)
    case = f"T={T}, B={B}, O={O}, {logits.dtype}" + (f", {note}" if note else "")
    expect(
        submission(logits, target),
        want,
        axes=("step", "sequence", "class"),
        what="dlogits",
        case=case,
        wrong=_misconceptions(logits, target, want),
    )


def _overflow(wrong: Wrong) -> Wrong:
    if wrong.misconception not in (None, "returns NaN or infinity"):
        return wrong
    return Wrong(
        f"{wrong.message} exp(710) is more than a float64 can hold, and exp(-750) is 0.",
        OVERFLOW,
        "Softmax does not change if you subtract the same number from all outputs of one step and sequence: "
        "subtract the largest of them before np.exp.",
    )


def _misconceptions(logits, target, want) -> dict:
    T, B, O = logits.shape
    chosen = np.eye(O, dtype=logits.dtype)[target]
    probabilities = want * (T * B) + chosen
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    over = lambda axis: (exponentials / exponentials.sum(axis=axis, keepdims=True) - chosen) / (T * B)
    return {
        "forgets the mean": want * (T * B),
        "averages over the steps only": want * B,
        "averages over the sequences only": want * T,
        "divides by the number of classes too": want / O,
        "turns the sign round": -want,
        "forgets to subtract the target": probabilities / (T * B),
        "takes softmax over the sequences": lambda: over(1),
        "takes softmax over the steps": lambda: over(0),
        "takes softmax over everything": lambda: over(None),
    }


CROSS_ENTROPY_GRADIENT = Exercise(
    name="cross_entropy_gradient",
    points=2,
    difficulty=2,
    minutes=15,
    lines=5,
    hints=(
        "Take one step of one sequence: O outputs become O probabilities that sum to 1, and the loss looks "
        "at one of them. Which entries of the gradient must be negative, and what do its O entries sum to?",
        "The gradient of -log(softmax(z)[k]) is softmax(z), minus 1 at entry k. The loss is a mean over T·B "
        "guesses, so each guess has 1/(T·B) of it. Subtract the largest output of each guess before exp, or "
        "exp overflows.",
        "`e = np.exp(logits - logits.max(axis=-1, keepdims=True))`, divided by its own sum over the last "
        "axis. `np.eye(O, dtype=logits.dtype)[target]` is a 1 at each target and 0 elsewhere. Difference, "
        "over T·B.",
    ),
    check=check,
    truth=cross_entropy_gradient,
    mutants=(
        Mutant("forgets the mean", " / (T * B)", ""),
        Mutant("averages over the steps only", "(T * B)", "T"),
        Mutant("averages over the sequences only", "(T * B)", "B"),
        Mutant("divides by the number of classes too", "(T * B)", "(T * B * O)"),
        Mutant("turns the sign round", "probabilities - one_hot", "one_hot - probabilities"),
        Mutant("forgets to subtract the target", "probabilities - one_hot", "probabilities"),
        Mutant("takes softmax over the sequences", "exponentials.sum(axis=-1,", "exponentials.sum(axis=1,"),
        Mutant("takes softmax over everything", "exponentials.sum(axis=-1,", "exponentials.sum("),
        Mutant(OVERFLOW, "logits - logits.max(axis=-1, keepdims=True)", "logits"),
        Mutant("returns the wrong dtype", ", dtype=logits.dtype", ""),
    ),
    also_right=(
        "def cross_entropy_gradient(logits, target):\n"
        "    T, B, _ = logits.shape\n"
        "    dlogits = np.empty_like(logits)\n"
        "    for t in range(T):\n"
        "        for b in range(B):\n"
        "            e = np.exp(logits[t, b] - max(logits[t, b]))\n"
        "            dlogits[t, b] = e / sum(e)\n"
        "            dlogits[t, b, target[t, b]] -= 1\n"
        "    return dlogits / (T * B)",
        "def cross_entropy_gradient(logits, target):\n"
        "    z = logits - np.amax(logits, -1)[..., None]\n"
        "    log_p = z - np.log(np.exp(z).sum(-1))[..., None]\n"
        "    p = np.exp(log_p)\n"
        "    hit = np.arange(logits.shape[-1]) == target[..., None]\n"
        "    return np.where(hit, p - 1, p) / target.size",
    ),
)
