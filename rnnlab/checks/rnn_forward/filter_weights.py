"""filter_weights: a linear network that remembers the last pixels computes any filter along a row."""

import numpy as np

from rnnlab.grading.exercise import Exercise, Mutant, Wrong
from rnnlab.grading.judging import expect


def filter_weights(kernel):
    K = len(kernel)
    weight_ih = np.zeros((K, 1))
    weight_ih[0] = 1
    return weight_ih, np.eye(K, k=-1), np.array(kernel)[np.newaxis]


def filtered(row, kernel):
    """y [T] from row [T]: y[t] = kernel[0] row[t] + kernel[1] row[t-1] + ..., with 0 before the row."""
    return np.convolve(row, kernel)[: len(row)]


def run_linear(row, weight_ih, weight_hh, weight_out):
    """y [T] of the network h' = weight_ih x + weight_hh h, y = weight_out h', from h = 0, over row [T]."""
    h, y = np.zeros(len(weight_hh)), []
    for pixel in row:
        h = weight_ih[:, 0] * pixel + weight_hh @ h
        y.append(weight_out[0] @ h)
    return np.array(y)


def check(submission, rng):
    for K in (2, 1, 3, 4):
        kernel, row = rng.uniform(1, 2, K) * rng.choice((-1, 1), K), rng.uniform(0, 1, 9)
        got = run_linear(row, *_as_weights(submission(kernel), K))
        wrong = {name: run_linear(row, *other) for name, other in _misconceptions(kernel).items()}
        case = f"K={K}, kernel {np.round(kernel, 2).tolist()}"
        expect(got, filtered(row, kernel), axes=("pixel",), what="y", case=case, wrong=wrong)


def _as_weights(result, K: int) -> list:
    if not isinstance(result, tuple | list) or len(result) != 3:
        raise Wrong(
            "The result is not three arrays.",
            "returns the wrong type",
            "End with `return weight_ih, weight_hh, weight_out`.",
        )
    shapes = [np.shape(array) for array in result]
    H = shapes[1][0] if shapes[1] else 0
    if not H or shapes != [(H, 1), (H, H), (1, H)]:
        raise Wrong(
            f"For a kernel of K={K} numbers the shapes are {shapes[0]}, {shapes[1]}, {shapes[2]}.",
            "returns the wrong shape",
            f"With H units: weight_ih (H, 1), weight_hh (H, H), weight_out (1, H); H = K = {K} is enough.",
        )
    return [np.asarray(array, dtype=float) for array in result]


def _misconceptions(kernel) -> dict:
    weight_ih, weight_hh, weight_out = filter_weights(kernel)
    return {
        "hands no pixel on to the next unit": (weight_ih, np.zeros_like(weight_hh), weight_out),
        "keeps every pixel for ever": (weight_ih, np.eye(len(kernel)), weight_out),
        "lets the oldest pixel come back": (weight_ih, np.roll(np.eye(len(kernel)), 1, axis=0), weight_out),
        "shows the pixel to every unit": (np.ones_like(weight_ih), weight_hh, weight_out),
        "applies the kernel backwards": (weight_ih, weight_hh, weight_out[:, ::-1]),
        "forgets the kernel": (weight_ih, weight_hh, np.ones_like(weight_out)),
    }


FILTER_WEIGHTS = Exercise(
    name="filter_weights",
    points=3,
    difficulty=3,
    minutes=15,
    lines=5,
    hints=(
        "Draw the state as K boxes in a row. At each step the new pixel goes into box 0 and what stood in "
        "each box moves to the next. Which matrix moves the content of h by one place?",
        "weight_ih puts the pixel into unit 0 and nowhere else. Row j of weight_hh says which units unit j "
        "reads: unit j reads unit j - 1, and unit 0 reads none. weight_out then weighs the boxes with the "
        "kernel.",
        "`weight_ih = np.zeros((K, 1))` with a 1 in row 0; `weight_hh` has ones just below its diagonal, "
        "see `np.eye(K, k=...)`; `weight_out` is the kernel as one row, `kernel[np.newaxis]`.",
    ),
    check=check,
    truth=filter_weights,
    mutants=(
        Mutant("hands no pixel on to the next unit", "k=-1", "k=1"),
        Mutant("keeps every pixel for ever", "np.eye(K, k=-1)", "np.eye(K)"),
        Mutant("lets the oldest pixel come back", "np.eye(K, k=-1)", "np.roll(np.eye(K), 1, axis=0)"),
        Mutant("shows the pixel to every unit", "np.zeros((K, 1))", "np.ones((K, 1))"),
        Mutant("applies the kernel backwards", "kernel[np.newaxis]", "kernel[np.newaxis, ::-1]"),
        Mutant("forgets the kernel", "kernel[np.newaxis]", "np.ones((1, K))"),
        Mutant("returns the wrong shape", "kernel[np.newaxis]", "kernel"),
        Mutant("returns the wrong type", "return weight_ih, weight_hh, weight_out", "return weight_hh"),
    ),
    also_right=(
        "def filter_weights(kernel):\n"
        "    K = len(kernel)\n"
        "    return np.array(kernel).reshape(K, 1), np.eye(K, k=1), np.eye(1, K)",
        "def filter_weights(kernel):\n"
        "    H = len(kernel) + 2\n"
        "    weight_hh = np.zeros((H, H))\n"
        "    for unit in range(H - 1):\n"
        "        weight_hh[unit, unit + 1] = 1\n"
        "    weight_ih = np.zeros((H, 1))\n"
        "    weight_ih[-1, 0] = 2.0\n"
        "    weight_out = np.zeros((1, H))\n"
        "    for k, number in enumerate(kernel):\n"
        "        weight_out[0, H - 1 - k] = number / 2.0\n"
        "    return weight_ih, weight_hh, weight_out",
    ),
)
