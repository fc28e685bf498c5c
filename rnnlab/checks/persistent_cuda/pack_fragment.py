"""A tile of weights as the lanes of a warp hold it for `mma`: four words each."""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def pack_fragment(tile):
    held = np.empty((32, 4), "uint32")
    for lane in range(32):
        g, t = lane // 4, lane % 4
        held[lane] = tile[g, t], tile[g + 8, t], tile[g, t + 4], tile[g + 8, t + 4]
    return held


FOUR = "tile[g, t], tile[g + 8, t], tile[g, t + 4], tile[g + 8, t + 4]"
MUTANTS = (
    Mutant("deals the words out in the order of memory", FOUR, "tile.reshape(32, 4)[lane]"),
    Mutant("takes rows for words", FOUR, "tile[t, g], tile[t + 8, g], tile[t + 4, g], tile[t + 12, g]"),
    Mutant("swaps g and t in the lane's number", "lane // 4, lane % 4", "lane % 8, lane // 8"),
    Mutant(
        "swaps the second word and the third",
        "tile[g + 8, t], tile[g, t + 4]",
        "tile[g, t + 4], tile[g + 8, t]",
    ),
    Mutant(
        "takes two rows side by side",
        FOUR,
        "tile[2 * g, t], tile[2 * g + 1, t], tile[2 * g, t + 4], tile[2 * g + 1, t + 4]",
    ),
    Mutant(
        "takes two words side by side",
        FOUR,
        "tile[g, 2 * t], tile[g + 8, 2 * t], tile[g, 2 * t + 1], tile[g + 8, 2 * t + 1]",
    ),
    Mutant("takes one row twice", "tile[g + 8, t]", "tile[g, t]"),
    Mutant("forgets words 4 to 7", "tile[g, t + 4], tile[g + 8, t + 4]", "tile[g, t], tile[g + 8, t]"),
)


def check(submission, rng):
    numbered = np.arange(128, dtype="uint32").reshape(16, 8)
    drawn = rng.integers(0, 2**32, (16, 8), dtype="uint32")
    every_other = rng.integers(0, 2**32, (32, 16), dtype="uint32")[::2, ::2]
    cases = (
        ("the word of row r and column w is 8r + w", numbered),
        ("words drawn by lot", drawn),
        ("every other row and word of a larger array", every_other),
    )
    for case, tile in cases:
        expect(
            submission(tile),
            pack_fragment(tile),
            axes=("lane", "register"),
            what="the fragment",
            case=case,
            wrong=wrong_values(pack_fragment, MUTANTS, tile),
        )


PACK_FRAGMENT = Exercise(
    name="pack_fragment",
    points=2,
    difficulty=2,
    minutes=15,
    lines=5,
    hints=(
        "The tile has 16·8 words, the warp 32 lanes: four words each. A lane's number has two parts: which "
        "eighth of the warp it is in, and its place there.",
        "Lane 4g + t has g = lane // 4 and t = lane % 4. Its rows are g and g + 8, its words t and t + 4; "
        "both rows of word t come first, then both rows of word t + 4.",
        "`held[lane] = tile[g, t], tile[g + 8, t], …` for each of 32 lanes, in an array [32,4] of uint32; or "
        "reshape the tile to [2, 8, 2, 4] (row half, g, word half, t) and transpose.",
    ),
    check=check,
    truth=pack_fragment,
    mutants=MUTANTS,
    also_right=(
        """def pack_fragment(tile):
    parts = np.ascontiguousarray(tile).reshape(2, 8, 2, 4)
    return parts.transpose(1, 3, 2, 0).reshape(32, 4)
""",
        """def pack_fragment(tile):
    lane, register = np.arange(32)[:, None], np.arange(4)[None]
    return tile[lane // 4 + 8 * (register % 2), lane % 4 + 4 * (register // 2)]
""",
    ),
)
