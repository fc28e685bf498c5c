"""adam_update: one update of one array, with the two running means and the step count that belong to it."""

import numpy as np

from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect

NAMES = ("weight", "m", "v", "step")
AXES = {"weight": ("row", "column"), "m": ("row", "column"), "v": ("row", "column"), "step": ()}


def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    step = step + 1
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient**2
    size = np.sqrt(v / (1 - beta2**step)) + epsilon
    return weight - learning_rate * (m / (1 - beta1**step)) / size, m, v, step


def check(submission, rng):
    """Updates in the middle of a training, then the first three of one, each fed with the true state."""
    for step, shape, dtype in ((4, (1, 1), "float64"), (2, (2, 3), "float64"), (7, (4, 3), "float32")):
        state = [np.asarray(draw, dtype=dtype) for draw in _state(rng, shape)]
        _check_case(submission, rng, (*state, step))
    state = (rng.standard_normal((3, 2)), np.zeros((3, 2)), np.zeros((3, 2)), 0)
    for _ in range(3):
        state = _check_case(submission, rng, state)


def _state(rng, shape):
    return rng.standard_normal(shape), rng.standard_normal(shape), rng.uniform(0.5, 2.0, shape)


def _check_case(submission, rng, state):
    """Holds one update against the truth; returns the true state after it."""
    weight, m, v, step = state
    gradient = rng.standard_normal(weight.shape).astype(weight.dtype)
    # epsilon is far larger than in practice: where it stands must show
    settings = dict(
        learning_rate=round(rng.uniform(0.05, 0.2), 3),
        beta1=round(rng.uniform(0.8, 0.9), 2),
        beta2=round(rng.uniform(0.92, 0.97), 2),
        epsilon=0.25,
    )
    arguments = (weight, gradient, m, v, step, *settings.values())
    want = adam_update(*arguments)
    wrong = {name: lambda edit=edit: edit(*arguments) for name, edit in WRONG.items()}
    case = f"an array of shape {weight.shape}, {weight.dtype}, after {step} updates"
    expect(submission(*arguments), want, axes=AXES, what=NAMES, case=case, wrong=wrong)
    return want


def _adam(
    weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon, *,
    mix=lambda beta: (beta, 1 - beta), square=np.square, root=np.sqrt,
    correct_m=1, correct_v=1, count=1, counted=1, sign=-1, inside=0, kept=0,
):  # fmt: skip
    """Adam with one thing changed: what each known wrong answer computes."""
    (old1, new1), (old2, new2) = mix(beta1), mix(beta2)
    m, v = old1 * m + new1 * gradient, old2 * v + new2 * square(gradient)
    m_hat = m / (1 - correct_m * beta1 ** (step + count))
    v_hat = v / (1 - correct_v * beta2 ** (step + count))
    size = root(v_hat + inside * epsilon) + (1 - inside) * epsilon
    m_kept, v_kept = (m_hat, v_hat) if kept else (m, v)
    return weight + sign * learning_rate * m_hat / size, m_kept, v_kept, step + counted


def _swapped(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    return _adam(weight, gradient, m, v, step, learning_rate, beta2, beta1, epsilon)


def _with(**change):
    return lambda *arguments: _adam(*arguments, **change)


WRONG = {
    "forgets the bias correction": _with(correct_m=0, correct_v=0),
    "corrects only m": _with(correct_v=0),
    "corrects only v": _with(correct_m=0),
    "counts the updates from 0": _with(count=0),
    "does not count the update": _with(counted=0),
    "forgets to square the gradient": _with(square=lambda gradient: gradient),
    "forgets the square root": _with(root=lambda v_hat: v_hat),
    "adds epsilon inside the root": _with(inside=1),
    "swaps beta1 and beta2": _swapped,
    "exchanges beta and 1 - beta": _with(mix=lambda beta: (1 - beta, beta)),
    "forgets the factor 1 - beta": _with(mix=lambda beta: (beta, 1)),
    "moves uphill": _with(sign=1),
    "keeps the corrected means as state": _with(kept=1),
}

BOTH = "m / (1 - beta1**step)\n    v_hat = v / (1 - beta2**step)"

ADAM_UPDATE = Exercise(
    name="adam_update",
    points=3,
    difficulty=3,
    minutes=15,
    lines=7,
    hints=(
        "Two running means are kept between updates: m of the gradient, v of its square. Both begin at 0. "
        "Are they too small or too large in the first updates, and by how much after one update?",
        "First count this update: step + 1. Then make the new m and v. For the step only, divide m by 1 - "
        "beta1**step and v by 1 - beta2**step; what you return as state are the means without this "
        "correction.",
        "`m = beta1 * m + (1 - beta1) * gradient`, `v` likewise with the square; `m_hat` and `v_hat` "
        "corrected; then `weight - learning_rate * m_hat / (np.sqrt(v_hat) + epsilon)`. Return the new "
        "weight, m, v and step.",
    ),
    check=check,
    truth=adam_update,
    mutants=(
        Mutant("forgets the bias correction", BOTH, "m\n    v_hat = v"),
        Mutant("corrects only m", "v / (1 - beta2**step)", "v"),
        Mutant("counts the updates from 0", BOTH, BOTH.replace("**step", "**(step - 1)")),
        Mutant("does not count the update", "return weight, m, v, step", "return weight, m, v, step - 1"),
        Mutant("forgets to square the gradient", "gradient**2", "gradient"),
        Mutant("forgets the square root", "np.sqrt(v_hat)", "v_hat"),
        Mutant("adds epsilon inside the root", "(np.sqrt(v_hat) + epsilon)", "np.sqrt(v_hat + epsilon)"),
        Mutant("moves uphill", "weight - learning_rate", "weight + learning_rate"),
        Mutant(
            "keeps the corrected means as state",
            "return weight, m, v, step",
            "return weight, m_hat, v_hat, step",
        ),
        Mutant("changes its input", "weight = weight - learning_rate", "weight -= learning_rate"),
    ),
    also_right=(
        "def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):\n"
        "    step += 1\n"
        "    m = m + (1 - beta1) * (gradient - m)\n"
        "    v = v + (1 - beta2) * (gradient * gradient - v)\n"
        "    direction = m / (1 - beta1**step) / (epsilon + (v / (1 - beta2**step)) ** 0.5)\n"
        "    return weight - learning_rate * direction, m, v, step",
        "def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):\n"
        "    m, v = m.copy(), v.copy()\n"
        "    m *= beta1\n"
        "    m += (1 - beta1) * gradient\n"
        "    v *= beta2\n"
        "    v += (1 - beta2) * np.square(gradient)\n"
        "    root = float(np.sqrt(1 - beta2 ** (step + 1)))\n"
        "    rate = learning_rate * root / (1 - beta1 ** (step + 1))\n"
        "    return weight - rate * m / (np.sqrt(v) + epsilon * root), m, v, step + 1",
    ),
)
