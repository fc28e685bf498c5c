"""How much a layer keeps for its gradient, and how many layers find room beside their weights."""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def activation_memory(T, B, H, itemsize, memory):
    kept = 2 * T * B * H * itemsize
    weights = 3 * 2 * H * H * itemsize
    return kept, memory // (kept + weights)


MUTANTS = (
    Mutant("keeps one step", "2 * T * B * H", "2 * B * H"),
    Mutant("keeps one sequence", "2 * T * B * H", "2 * T * H"),
    Mutant("keeps h and forgets the inputs", "2 * T * B * H", "T * B * H"),
    Mutant("counts numbers, not bytes", "2 * T * B * H * itemsize", "2 * T * B * H"),
    Mutant("forgets the weights", "(kept + weights)", "kept"),
    Mutant("counts the weights once", "3 * 2 * H * H", "2 * H * H"),
    Mutant("forgets the input weights", "3 * 2 * H * H", "3 * H * H"),
    Mutant("gives weights to each sequence", "3 * 2 * H * H", "3 * 2 * B * H * H"),
    Mutant(
        "rounds up to a layer that has no room",
        "memory // (kept + weights)",
        "-(-memory // (kept + weights))",
    ),
)


def check(submission, rng):
    drawn = int(rng.integers(50, 90)), int(rng.integers(5, 9)), 33, 4, 5_000_000
    for case in (
        (1, 2, 3, 4, 10_000),
        (10, 2, 4, 2, 12_345),
        drawn,
        (700, 64, 1152, 4, 6 * 10**9),
        _large(rng),
    ):
        expect(
            submission(*case),
            activation_memory(*case),
            axes=(),
            what=("bytes kept", "layers"),
            case="T={}, B={}, H={}, itemsize={}, memory={}".format(*case),
            wrong=wrong_values(activation_memory, MUTANTS, *case),
        )


def _large(rng: np.random.Generator) -> tuple[int, ...]:
    """A layer of any size, so that no table of cases helps."""
    T, B, H, gigabytes = (
        int(rng.integers(*bounds)) for bounds in ((100, 2000), (2, 128), (64, 2048), (1, 80))
    )
    return T, B, H, int(rng.choice((2, 4, 8))), gigabytes * 10**9 + int(rng.integers(10**9))


ACTIVATION_MEMORY = Exercise(
    name="activation_memory",
    points=2,
    difficulty=2,
    minutes=10,
    lines=3,
    hints=(
        "Which arrays does the way back need of a plain RNN, and how large is each? Which of them grow with "
        "the minibatch, and which do not?",
        "Kept are the layer's inputs and its h: two arrays of T·B·H numbers. Weights are W and U, H² numbers "
        "each, and beside each its gradient and the optimiser's momentum.",
        "`kept = 2 * T * B * H * itemsize`; three times two times H² numbers for the weights; a layer needs "
        "both, and only whole layers count.",
    ),
    check=check,
    truth=activation_memory,
    mutants=MUTANTS,
    also_right=(
        """def activation_memory(T, B, H, itemsize, memory):
    states = (T * B * H + T * B * H) * itemsize
    a_layer = states + 6 * itemsize * H**2
    return states, int(memory / a_layer)
""",
        """def activation_memory(T, B, H, itemsize, memory):
    layers, states = 0, 2 * itemsize * T * B * H
    while memory >= states + 6 * H * H * itemsize:
        memory, layers = memory - states - 6 * H * H * itemsize, layers + 1
    return states, layers
""",
    ),
)
