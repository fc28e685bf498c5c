"""A gradient held against central differences: every entry, nothing left changed, one relative error."""

import numpy as np

from rnnlab.checks.edits import call, wrong_values
from rnnlab.grading.exercise import Code, Exercise, Mutant
from rnnlab.grading.judging import expect

# Not a sum over the entries, so that one left moved changes the next; curved, so that the size of eps shows.
LOSS = """
import numpy as np


def loss(array):
    return float(np.sin({a} * array).sum() + {b} * array.sum() ** 3 + {c} * (array[0] * array[-1]).sum())
"""


def gradient_check(loss, array, gradient, eps):
    numeric = np.zeros_like(array)
    for index in np.ndindex(array.shape):
        point = array.copy()
        point[index] += eps
        above = loss(point)
        point[index] -= 2 * eps
        numeric[index] = (above - loss(point)) / (2 * eps)
    return numeric, float(np.linalg.norm(gradient - numeric) / np.linalg.norm(numeric))


MUTANTS = (
    Mutant("uses a one-sided difference", "(above - loss(point)) / (2 * eps)", "(above - loss(array)) / eps"),
    Mutant("divides by eps instead of 2 eps", "/ (2 * eps)", "/ eps"),
    Mutant("takes the difference the wrong way round", "(above - loss(point))", "(loss(point) - above)"),
    Mutant(
        "leaves an entry moved while it tries the next",
        "    for index in np.ndindex(array.shape):\n        point = array.copy()\n",
        "    point = array.copy()\n    for index in np.ndindex(array.shape):\n",
    ),
    Mutant("tries the first row only", "np.ndindex(array.shape)", "np.ndindex((1, *array.shape[1:]))"),
    Mutant("ignores eps", "    numeric = np.", "    eps = 1e-5\n    numeric = np."),
    Mutant("returns the absolute error", " / np.linalg.norm(numeric)", ""),
    Mutant("divides by the norm of the gradient under test", "norm(numeric)", "norm(gradient)"),
    Mutant(
        "takes the largest difference",
        "np.linalg.norm(gradient - numeric)",
        "np.abs(gradient - numeric).max()",
    ),
    Mutant("changes its input", "point = array.copy()", "point = array"),
)


def check(submission, rng):
    for shape, eps in (((1,), 0.2), ((2, 3), 0.25), ((4, 1), 0.1), ((3, 2, 2), 0.15)):
        loss, array = _draw(rng, shape)
        exact, _ = call(gradient_check, (loss, array, array, 1e-5))
        arguments = loss, array, exact * rng.uniform(0.7, 1.2, shape), eps
        wrong = wrong_values(gradient_check, MUTANTS[:-1], *arguments)
        want, case = call(gradient_check, arguments), f"array of shape {shape}, eps={eps}"
        expect(submission(*arguments), want, axes=(), what=("numeric", "error"), case=case, wrong=wrong)


def _draw(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Code, np.ndarray]:
    a, b, c = (round(float(number), 3) for number in rng.uniform(0.5, 1.5, 3))
    return Code(LOSS.format(a=a, b=b, c=c), "loss"), rng.uniform(0.2, 1.0, shape)


GRADIENT_CHECK = Exercise(
    name="gradient_check",
    points=3,
    difficulty=2,
    minutes=15,
    lines=8,
    hints=(
        "Forget backpropagation: a gradient entry says how fast the loss changes when one entry of the "
        "array moves. Move it, look at the loss, put it back. Then the next entry.",
        "Central difference: (loss at +eps − loss at −eps) / (2·eps), with all other entries where they "
        "were. Work on a copy: the array belongs to the caller. `np.ndindex(array.shape)` gives the "
        "index of every entry of an array of any shape.",
        "For each index: `point = array.copy()`, `point[index] += eps`, `above = loss(point)`, "
        "`point[index] -= 2 * eps`, `below = loss(point)`. At the end return two things: the numeric "
        "array, and the float ‖gradient − numeric‖ / ‖numeric‖ with `np.linalg.norm`.",
    ),
    check=check,
    truth=gradient_check,
    mutants=MUTANTS,
    also_right=(
        """def gradient_check(loss, array, gradient, eps):
    numeric = np.empty(array.size)
    for k in range(array.size):
        step = np.zeros(array.size)
        step[k] = eps
        step = step.reshape(array.shape)
        numeric[k] = (loss(array + step) - loss(array - step)) / eps / 2
    numeric = numeric.reshape(array.shape)
    error = np.sqrt(((gradient - numeric) ** 2).sum() / (numeric**2).sum())
    return numeric, float(error)
""",
        """def gradient_check(loss, array, gradient, eps):
    numeric = {}
    for index, value in np.ndenumerate(array):
        losses = []
        for sign in (1, -1):
            kept = array[index]
            array[index] = value + sign * eps
            losses.append(loss(array))
            array[index] = kept
        numeric[index] = (losses[0] - losses[1]) / (2 * eps)
    numeric = np.array(list(numeric.values())).reshape(array.shape)
    return numeric, float(np.linalg.norm(numeric - gradient) / np.linalg.norm(numeric))
""",
    ),
)
