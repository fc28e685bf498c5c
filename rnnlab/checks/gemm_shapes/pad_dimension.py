"""Inputs and weights padded with zeros to sizes that suit a product, and nothing changed by it."""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def pad_dimension(x, weight, multiple):
    up = lambda n: -(-n // multiple) * multiple
    (T, B, I), (M, _) = x.shape, weight.shape
    wide = np.zeros((T, B, up(I)), x.dtype)
    tall = np.zeros((up(M), up(I)), weight.dtype)
    wide[:T, :B, :I] = x
    tall[:M, :I] = weight
    return wide, tall


MUTANTS = (
    Mutant("pads to a power of two", "-(-n // multiple) * multiple", "1 << (n - 1).bit_length()"),
    Mutant(
        "adds a multiple where none is needed",
        "-(-n // multiple) * multiple",
        "(n // multiple + 1) * multiple",
    ),
    Mutant("pads with ones", "np.zeros((T, B, up(I)), x.dtype)", "np.ones((T, B, up(I)), x.dtype)"),
    Mutant("puts the padding in front", "wide[:T, :B, :I] = x", "wide[:, :, up(I) - I :] = x"),
    Mutant("leaves the rows of the weights as they are", "np.zeros((up(M), up(I))", "np.zeros((M, up(I))"),
    Mutant("leaves the inputs as they are", "return wide, tall", "return x, tall"),
    Mutant(
        "pads the minibatch too",
        "np.zeros((T, B, up(I)), x.dtype)\n",
        "np.zeros((T, up(B), up(I)), x.dtype)\n",
    ),
    Mutant("returns the wrong dtype", "np.zeros((T, B, up(I)), x.dtype)", "np.zeros((T, B, up(I)))"),
)


def check(submission, rng):
    for T, B, I, M, multiple in ((1, 1, 1, 1, 2), (2, 3, 4, 8, 4), (3, 2, 5, 9, 4), (2, 5, 13, 6, 8)):
        x = rng.normal(size=(T, B, I)).astype("float32")
        weight = rng.normal(size=(M, I)).astype("float32")
        wrong = wrong_values(pad_dimension, MUTANTS, x, weight, multiple)
        expect(
            submission(x, weight, multiple),
            pad_dimension(x, weight, multiple),
            axes={"x": ("step", "sequence", "input"), "the weights": ("unit", "input")},
            what=("x", "the weights"),
            case=f"T={T}, B={B}, I={I}, M={M}, multiple={multiple}",
            wrong=wrong,
        )


PAD_DIMENSION = Exercise(
    name="pad_dimension",
    points=2,
    difficulty=2,
    minutes=12,
    lines=5,
    hints=(
        "The product over I inputs must not notice the padding. What must stand in the new columns of x, and "
        "what in those of the weights? What do the new rows of the weights then give?",
        "Round I and the number of units up to the next multiple; a size that is one already stays. "
        "Zeros in the new columns add nothing to a sum; zeros in the new rows give units that stay 0.",
        "`up = lambda n: -(-n // multiple) * multiple`; `np.zeros((T, B, up(I)), x.dtype)` and then "
        "`[:, :, :I] = x`; likewise the weights. The minibatch stays.",
    ),
    check=check,
    truth=pad_dimension,
    mutants=MUTANTS,
    also_right=(
        """def pad_dimension(x, weight, multiple):
    more = lambda n: -n % multiple
    columns = (0, more(x.shape[2]))
    return np.pad(x, ((0, 0), (0, 0), columns)), np.pad(weight, ((0, more(len(weight))), columns))
""",
        """def pad_dimension(x, weight, multiple):
    def padded(a, axis):
        shape = list(a.shape)
        shape[axis] = (multiple - shape[axis] % multiple) % multiple
        return np.concatenate([a, np.zeros(shape, a.dtype)], axis)
    return padded(x, 2), padded(padded(weight, 1), 0)
""",
    ),
)
