"""How many steps of inputs to multiply at once, when the layers above wait for them."""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def choose_input_batch(T, layers, launch, work, step):
    time = lambda k: (-(-T // k) + layers - 1) * (launch + k * (work + step))
    best = min(range(1, T + 1), key=time)
    return best, time(best)


MUTANTS = (
    Mutant("forgets that the layers above wait", " + layers - 1)", ")"),
    Mutant("runs one layer after the other", "(-(-T // k) + layers - 1)", "(-(-T // k) * layers)"),
    Mutant("leaves out the last, shorter chunk", "-(-T // k)", "T // k"),
    Mutant("pays for a launch in every step", "launch + k * (work + step)", "k * (launch + work + step)"),
    Mutant("pays for one step a chunk", "launch + k * (work + step)", "launch + k * work + step"),
    Mutant("forgets the launch", "launch + k * (work + step)", "k * (work + step)"),
    Mutant("counts one chunk too many", "+ layers - 1)", "+ layers)"),
    Mutant("never takes more than two", "range(1, T + 1)", "range(1, min(T, 2) + 1)"),
)


def check(submission, rng):
    drawn = int(rng.integers(40, 60)), int(rng.integers(3, 6)), float(rng.integers(6, 14)), 1.0, 2.0
    cases = (
        (1, 1, 2.0, 1.0, 1.0),
        (6, 1, 2.0, 1.0, 1.0),
        (8, 2, 5.0, 1.0, 2.0),
        (10, 4, 1.0, 2.0, 3.0),
        drawn,
        _large(rng),
    )
    for case in cases:
        expect(
            submission(*case),
            choose_input_batch(*case),
            axes=(),
            what=("the steps at a time", "the time"),
            case="T={}, layers={}, launch={}, work={}, step={}".format(*case),
            wrong=wrong_values(choose_input_batch, MUTANTS, *case),
            tolerance=1e-9,
        )


def _large(rng: np.random.Generator) -> tuple:
    """A case that no table holds; times are whole eighths, so that sums are exact in any order."""
    launch, work, step = (float(rng.integers(*bounds)) / 8 for bounds in ((48, 800), (4, 24), (8, 32)))
    return int(rng.integers(60, 400)), int(rng.integers(3, 12)), launch, work, step


CHOOSE_INPUT_BATCH = Exercise(
    name="choose_input_batch",
    points=2,
    difficulty=3,
    minutes=15,
    lines=3,
    hints=(
        "Draw two layers and three chunks as boxes on a time axis. When can the second layer begin its first "
        "chunk, and when has it ended its last?",
        "A chunk of k steps takes launch + k·(work + step). There are ⌈T/k⌉ of them, and each layer above "
        "the first adds one more chunk's time at the end.",
        "`time = lambda k: (-(-T // k) + layers - 1) * (launch + k * (work + step))`; take the smallest k "
        "with the smallest time.",
    ),
    check=check,
    truth=choose_input_batch,
    mutants=MUTANTS,
    also_right=(
        """def choose_input_batch(T, layers, launch, work, step):
    times = []
    for k in range(1, T + 1):
        chunks = T // k + (T % k > 0)
        times.append((chunks + layers - 1) * (launch + k * work + k * step))
    best = times.index(min(times))
    return best + 1, times[best]
""",
        """def choose_input_batch(T, layers, launch, work, step):
    k = np.arange(1, T + 1)
    times = (np.ceil(T / k) + layers - 1) * (launch + k * (work + step))
    return int(k[times.argmin()]), float(times.min())
""",
    ),
)
