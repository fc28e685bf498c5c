"""FLOP for each byte of a recurrent product, and the minibatch from which arithmetic is the limit."""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    flops, moved = 2 * B * H * H, itemsize * (H * H + 2 * B * H)
    balance = itemsize * peak / bandwidth
    smallest = int(np.ceil(balance * H / (2 * (H - balance)))) if H > balance else 0
    return flops / moved, smallest


MUTANTS = (
    Mutant("counts a multiply-add as one operation", "2 * B * H * H", "B * H * H"),
    Mutant("forgets to move the weights", "(H * H + 2 * B * H)", "(2 * B * H)"),
    Mutant("forgets to move the result", "2 * B * H)", "B * H)"),
    Mutant("moves the weights for each sequence", "(H * H + 2 * B * H)", "(B * H * H + 2 * B * H)"),
    Mutant("counts numbers, not bytes", "itemsize * (H * H", "(H * H"),
    Mutant("turns the balance round", "itemsize * peak / bandwidth", "itemsize * bandwidth / peak"),
    Mutant("takes FLOP a byte for FLOP a number", "itemsize * peak / bandwidth", "peak / bandwidth"),
    Mutant("rounds down to a minibatch that is still too small", "np.ceil(", "np.floor("),
    Mutant("gives a minibatch where none is enough", " if H > balance else 0", ""),
)


def check(submission, rng):
    drawn = int(rng.integers(3, 40)), int(rng.integers(300, 900)), 4, 500.0, float(rng.integers(21, 40))
    cases = ((1, 2, 4, 30.0, 20.0), (3, 100, 8, 90.0, 21.0), (64, 16, 4, 300.0, 30.0), drawn)
    for case in cases:
        expect(
            submission(*case),
            arithmetic_intensity(*case),
            axes=(),
            what=("FLOP a byte", "the smallest minibatch"),
            case="B={}, H={}, itemsize={}, peak={}, bandwidth={}".format(*case),
            wrong=wrong_values(arithmetic_intensity, MUTANTS, *case),
            tolerance=1e-9,
        )


ARITHMETIC_INTENSITY = Exercise(
    name="arithmetic_intensity",
    points=2,
    difficulty=2,
    minutes=15,
    lines=4,
    hints=(
        "Count the operations of h [B,H] times weights [H,H] first, then the numbers that move if each array "
        "moves once: two are read, one is written. Which of them grow with B?",
        "Intensity = 2·B·H² / (itemsize·(H² + 2·B·H)). Arithmetic is the limit once it reaches "
        "peak / bandwidth; solve that for B. Let B go to infinity: is there always such a B?",
        "With balance = itemsize·peak/bandwidth the condition becomes 2·B·(H − balance) ≥ balance·H. For "
        "H ≤ balance no B is enough: return 0. Else round balance·H / (2·(H − balance)) up.",
    ),
    check=check,
    truth=arithmetic_intensity,
    mutants=MUTANTS,
    also_right=(
        """def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    intensity = lambda B: 2 * B * H**2 / (itemsize * (H**2 + 2 * B * H))
    if H / itemsize <= peak / bandwidth:
        return intensity(B), 0
    smallest = 1
    while intensity(smallest) < peak / bandwidth:
        smallest += 1
    return intensity(B), smallest
""",
        """def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    x = bandwidth / (itemsize * peak)
    smallest = int(np.ceil(1 / (2 * (x - 1 / H)))) if x > 1 / H else 0
    return 1 / (itemsize * (1 / (2 * B) + 1 / H)), smallest
""",
    ),
)
