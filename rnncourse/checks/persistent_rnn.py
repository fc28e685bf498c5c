"""Checks of lesson 15: what fits on a chip, who has which weight, a barrier of flags, a kernel that stays."""

from itertools import pairwise

import numpy as np

from nbjudge.comparing.differences import WRONG_TYPE, whole_numbers
from nbjudge.comparing.judging import refuse
from nbjudge.exercise import Wrong
from rnncourse.checks.answers import answers
from rnncourse.checks.kernels import Case, compare_launches, size_in_words, unset
from rnncourse.checks.numbers import compare_numbers

ANSWERS = answers("persistent_rnn")


def draw_chips(rng) -> list[tuple]:
    """gates, H, itemsize, registers, shared, multiprocessors; each side of each limit, and the limits."""
    drawn = int(rng.integers(3, 5)), int(rng.integers(40, 90)), 2, 5000, 9000, 3
    large = (
        int(rng.integers(2, 5)),
        int(rng.integers(500, 3000)),
        2,
        200_000,
        180_000,
        int(rng.integers(70, 140)),
    )
    return [
        (4, 8, 4, 100, 160, 3),
        (1, 8, 4, 256, 0, 1),
        (1, 6, 4, 256, 64, 1),  # registers with room to spare
        (1, 8, 4, 100, 200, 2),
        (2, 8, 4, 100, 156, 2),
        (1, 7, 2, 12, 4, 8),  # a share of the weights, rounded down, would fit into registers
        (1, 7, 2, 8, 4, 8),  # and here into both
        (1, 10, 4, 100, 250, 2),
        (1, 10, 4, 100, 100, 2),
        (3, 10, 2, 64, 64, 2),
        (1, 3, 4, 18, 7, 2),  # a weight is split between two multiprocessors
        (1, 4, 4, 11, 11, 3),  # and between registers and shared memory; so are rows
        (1, 1152, 4, 216 * 256 * 4, 0, 24),
        drawn,
        large,
    ]


def draw_threads(rng) -> list[tuple]:
    """block, thread, H, gates, units, warps; lanes and warps that are not full, before and behind them."""
    drawn = int(rng.integers(0, 3)), int(rng.integers(33, 64)), 70, 4, 3, 2
    large = int(rng.integers(3, 20)), int(rng.integers(0, 128)), int(rng.integers(300, 700)), 4, 5, 4
    return [
        (1, 37, 40, 1, 2, 2),
        (0, 1, 40, 1, 2, 1),
        (0, 0, 4, 1, 1, 1),
        (2, 3, 35, 3, 4, 2),
        (0, 70, 48, 2, 5, 4),
        (4, 5, 35, 3, 4, 2),
        (3, 40, 35, 3, 4, 2),
        (4, 40, 35, 3, 4, 2),
        drawn,
        large,
    ]


def check_tile_for_thread(submission, rng, *case):
    """Any order is right; a mistake is named by the weights that it gives."""
    want, got = set(ANSWERS["tile_for_thread"].call(*case)), submission(*case)
    says = "block={}, thread={}, H={}, gates={}, units={}, warps={}".format(*case)
    pairs = whole_numbers(got, 2)
    pairs = pairs and sorted(pairs)
    refuse(_wrong_weights(got, pairs, want), says, result=pairs)


def _wrong_weights(got: object, pairs: list | None, want: set) -> str | Wrong | None:
    """The first weight that should not be in the list, or that is missing."""
    if pairs is None:
        sentence = f"The result must be a list of pairs (row, column); it returns {got!r:.60}."
        return Wrong(sentence, WRONG_TYPE)
    if surplus := [pair for pair in pairs if pair not in want]:
        return f"The thread does not store weight {surplus[0]}; {len(want)} others are its own."
    if missing := sorted(want - set(pairs)):
        return f"Weight {missing[0]} is missing: the list has {len(set(pairs))} of {len(want)} weights."
    twice = next((a for a, b in pairwise(pairs) if a == b), None)
    return f"Weight {twice} is in the list more than once." if twice else None


def check_flag_barrier(submission, rng, blocks, threads, steps):
    history = unset(steps + 1, blocks * threads)
    history[0] = rng.normal(size=blocks * threads)
    says = f"{size_in_words(blocks, threads)}, {steps} steps"
    case = Case((blocks,), (threads,), (history, np.zeros(blocks, "int32"), steps), says)
    axes = (("step", "element"),)
    mean = float(history[0].mean())
    explain = lambda _, place, surplus: f"The mean of row {place[0] - 1} is {mean + place[0] - 1:.6g}."
    answer = ANSWERS["flag_barrier"]
    compare_launches(submission, answer, case, ("history",), axes, limit_exchange, explain, FLAGS)


def limit_exchange(counts, case):
    """From step 1 on, each block loads what the other blocks have stored in the step before."""
    rows, width = case.arguments[0].shape
    own, blocks = width // case.grid[0], case.grid[0]
    needed = (rows - 2) * (width - own)
    block = min(range(blocks), key=lambda number: counts["exchanged"][number])
    if (taken := counts["exchanged"][block]) < needed:
        return (
            f"block {block} loads {taken} of the {needed} elements that it needs from the other blocks: each "
            "thread computes its own element in each step, from what all others have written"
        )
    return None


FLAGS = {
    "race between blocks": (
        "The reader's block went on too early. Three things must come before it reads row t: the writer's "
        "block sets its flag only after a barrier of its own, when all its threads have written; the "
        "reader's block sees t or more in the flag of each block, the last one, too; all its threads wait "
        "for that at a barrier. A flag that is set back may be missed."
    ),
    "missing_fence": (
        "cuda.threadfence() between the two makes what was written visible to other blocks; "
        "cuda.threadfence_block() does so for its own block only."
    ),
}


WIDE = 16


def check_persistent_rnn_kernel(submission, rng, blocks, steps):
    h = unset(steps + 1, WIDE)
    h[0] = rng.normal(size=WIDE)
    weights = rng.normal(size=(WIDE, WIDE)).astype("float32") / 4
    inputs = rng.normal(size=(steps, WIDE)).astype("float32")
    want = [h[0]]
    for row in inputs:
        want.append(np.tanh(row + weights @ want[-1]))
    says = f"{size_in_words(blocks, WIDE // blocks)}, {steps} steps"
    case = Case((blocks,), (WIDE // blocks,), (h, weights, inputs, np.zeros(blocks, "int32")), says)

    def explain(name: str, place: tuple, surplus: float) -> str:
        step, unit = place
        carried = weights[unit] @ want[step - 1]
        own = inputs[step - 1, unit]
        return f"There weights times h[{step - 1}] give {carried:.4g}, inputs[{step - 1}] is {own:.4g}."

    answer, axes = ANSWERS["persistent_rnn_kernel"], (("step", "unit"),)
    compare_launches(submission, answer, case, ("h",), axes, limit_persistent, explain, FLAGS)


def limit_persistent(counts, case):
    """Each weight once, and h from the blocks that compute it; inputs and h may be read in every step."""
    loads, most = counts["loads_of_parameter"][1], WIDE * WIDE
    if loads > most:
        return f"{loads} loads of {most} weights: keep the weights in a local array, and load each one once"
    return limit_exchange(counts, case)


def _bytes_of_layer(T: int, B: int, H: int, itemsize: int) -> str:
    """Saved arrays, then weights with their gradients and what the optimiser keeps, in words."""
    copies = 4 if ANSWERS["activation_memory"].number("optimiser", "momentum") == "adam" else 3
    return f"{2 * T * B * H * itemsize} + {2 * H * H * itemsize * copies} bytes"


def draw_memories(rng) -> list[tuple]:
    """T, B, H, itemsize, memory; the second is full to the byte, the last is too small for a layer."""
    drawn = int(rng.integers(50, 90)), int(rng.integers(5, 9)), 33, 4, 5_000_000
    large = tuple(map(int, rng.integers((300, 30, 900), (900, 90, 2000))))
    return [
        (10, 2, 4, 2, 12_345),
        (3, 2, 4, 4, 3 * (192 + 384)),
        (1, 2, 3, 4, 10_000),
        drawn,
        (700, 64, 1152, 4, 6 * 10**9),
        (*large, 2, 80 * 10**9),
        (10, 2, 4, 2, 511),
    ]


EXERCISES = (
    ANSWERS["fits_on_chip"].exercise(
        compare_numbers(
            ANSWERS["fits_on_chip"],
            ("the place", "the largest number of units"),
            "gates={}, H={}, itemsize={}, registers={}, shared={}, multiprocessors={}",
            lambda gates, H, itemsize, registers, shared, chips: (
                f"{gates * H * H * itemsize} bytes of weights, {registers * chips} of registers, "
                f"{shared * chips} of shared memory"
            ),
        ),
        draw_chips,
    ),
    ANSWERS["tile_for_thread"].exercise(check_tile_for_thread, draw_threads),
    ANSWERS["flag_barrier"].exercise(
        check_flag_barrier,
        lambda rng: ((2, 2, 2), (1, 2, 1), (3, 4, 3), (4, 5, int(rng.integers(2, 5)))),
        is_kernel=True,
    ),
    ANSWERS["persistent_rnn_kernel"].exercise(
        check_persistent_rnn_kernel, ((2, 3), (1, 1), (4, 3), (4, 8)), is_kernel=True
    ),
    ANSWERS["activation_memory"].exercise(
        compare_numbers(
            ANSWERS["activation_memory"],
            ("number of bytes", "number of layers"),
            "T={}, B={}, H={}, itemsize={}, memory={}",
            lambda T, B, H, itemsize, memory: f"a whole layer needs {_bytes_of_layer(T, B, H, itemsize)}",
        ),
        draw_memories,
    ),
)
