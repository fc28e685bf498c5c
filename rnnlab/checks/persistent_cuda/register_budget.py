"""Words of weights that each thread keeps when whole pairs of tiles are dealt out, and whether they fit."""

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def register_budget(gates, H, itemsize, blocks, warps, beside):
    pairs = -(-gates * H // 16) * -(-H * itemsize // 64)
    words = 8 * -(-pairs // (blocks * warps))
    most = min(255, 65536 // (32 * warps))
    return words, most, words + beside <= most


MUTANTS = (
    Mutant("takes every number for a word of 32 bits", "-H * itemsize", "-H * 4"),
    Mutant("forgets the gates", "-gates * H", "-H"),
    Mutant(
        "deals out single words, not whole pairs of tiles",
        "8 * -(-pairs // (blocks * warps))",
        "-(-gates * H * H * itemsize // (128 * blocks * warps))",
    ),
    Mutant("leaves the last pairs without a warp", "8 * -(-pairs // (blocks", "8 * (pairs // (blocks"),
    Mutant("counts one tile of the pair", "words = 8 *", "words = 4 *"),
    Mutant("keeps the whole matrix in each block", "(blocks * warps)", "warps"),
    Mutant("leaves no registers for anything but weights", "words + beside <=", "words <="),
    Mutant("forgets that a block's threads share the registers", "min(255, 65536 // (32 * warps))", "255"),
    Mutant("gives a thread more than 255", "min(255, 65536 // (32 * warps))", "65536 // (32 * warps)"),
    Mutant("refuses what fits exactly", "words + beside <=", "words + beside <"),
)  # fmt: skip
SIZES = "gates={}, H={}, itemsize={}, blocks={}, warps={}, beside={}"


def check(submission, rng):
    drawn = (
        int(rng.integers(2, 5)),
        int(rng.integers(70, 400)),
        2,
        int(rng.integers(2, 9)),
        int(rng.integers(1, 9)),
        int(rng.integers(40, 100)),
    )
    cases = (
        (1, 16, 4, 1, 1, 60), (1, 64, 2, 1, 4, 64), (4, 1024, 2, 128, 8, 82), (3, 512, 4, 16, 12, 64),
        (4, 512, 2, 16, 8, 65), (1, 100, 2, 3, 5, 60), (1, 256, 4, 8, 16, 64), (4, 2048, 2, 132, 8, 80),
        drawn, (1, 1152, 4, 24, 8, 39), (3, 70, 2, 5, 32, 56),
    )  # fmt: skip
    for case in cases:
        expect(
            submission(*case),
            register_budget(*case),
            axes=(),
            what=("the words", "the most registers", "whether it fits"),
            case=SIZES.format(*case),
            wrong=wrong_values(register_budget, MUTANTS, *case),
        )


REGISTER_BUDGET = Exercise(
    name="register_budget",
    points=2,
    difficulty=3,
    minutes=15,
    lines=4,
    hints=(
        "Count pairs of tiles first: how many stand below one another, how many side by side? Then deal them "
        "out to all warps of all blocks; a pair is not cut.",
        "A pair has 16 rows by 16 words of 4 bytes, so a row of H numbers needs ⌈H·itemsize / 64⌉ of them. A "
        "warp that keeps n pairs has 8·n words in each lane. A block's threads, 32 a warp, share 65 536 "
        "registers, and none has more than 255.",
        "`pairs = -(-gates * H // 16) * -(-H * itemsize // 64)`; `words = 8 * ` the pairs of a warp, rounded "
        "up; `most = min(255, 65536 // (32 * warps))`; it fits if `words + beside <= most`.",
    ),
    check=check,
    truth=register_budget,
    mutants=MUTANTS,
    also_right=(
        """import math
def register_budget(gates, H, itemsize, blocks, warps, beside):
    down, across = math.ceil(gates * H / 16), math.ceil(H * itemsize / 64)
    of_a_warp = math.ceil(down * across / (blocks * warps))
    most = 65536 // (warps * 32)
    if most > 255:
        most = 255
    return of_a_warp * 8, most, not of_a_warp * 8 + beside > most
""",
        """def register_budget(gates, H, itemsize, blocks, warps, beside):
    down, across = (gates * H + 15) // 16, (H * itemsize + 63) // 64
    tiles, everybody = down * across * 2, blocks * warps
    words = 0
    while words // 8 * everybody * 2 < tiles:
        words += 8
    room = np.minimum(255, 65536 // (32 * warps))
    return words, int(room), bool(room - beside >= words)
""",
    ),
)
