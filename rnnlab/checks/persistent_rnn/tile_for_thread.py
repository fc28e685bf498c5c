"""The weights that one thread keeps, when a warp has whole units and its lanes share the columns out."""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def tile_for_thread(block, thread, H, gates, units, warps):
    warp, lane = block * warps + thread // 32, thread % 32
    mine = range(warp * units, min((warp + 1) * units, H))
    return [
        (gate * H + unit, column) for unit in mine for gate in range(gates) for column in range(lane, H, 32)
    ]


MUTANTS = (
    Mutant("counts warps inside the block only", "block * warps + thread // 32", "thread // 32"),
    Mutant("takes the thread's number for the lane", "thread % 32", "thread"),
    Mutant("gives every thread the warp's whole rows", "range(lane, H, 32)", "range(H)"),
    Mutant("gives a lane one column only", "range(lane, H, 32)", "range(lane, min(lane + 1, H))"),
    Mutant("keeps one gate only", "for gate in range(gates)", "for gate in range(1)"),
    Mutant("puts a unit's gates side by side in the rows", "gate * H + unit", "unit * gates + gate"),
    Mutant("has units that are not there", "min((warp + 1) * units, H)", "(warp + 1) * units"),
    Mutant(
        "gives each warp one unit",
        "range(warp * units, min((warp + 1) * units, H))",
        "range(warp, min(warp + 1, H))",
    ),
    Mutant("turns rows and columns round", "(gate * H + unit, column)", "(column, gate * H + unit)"),
)


def check(submission, rng):
    drawn = int(rng.integers(0, 3)), int(rng.integers(33, 64)), 70, 4, 3, 2
    for case in (
        (0, 0, 4, 1, 1, 1),
        (0, 1, 40, 1, 2, 1),
        (1, 37, 40, 1, 2, 2),
        (2, 3, 35, 3, 4, 2),
        drawn,
        (0, 70, 48, 2, 5, 4),
        (4, 5, 35, 3, 4, 2),
        _large(rng),
    ):
        want = tile_for_thread(*case)
        expect(
            _array(submission(*case)),
            _array(want),
            axes=("weight", "row or column"),
            what="the weights",
            case="block={}, thread={}, H={}, gates={}, units={}, warps={}".format(*case),
            wrong={
                name: _array(value()) for name, value in wrong_values(tile_for_thread, MUTANTS, *case).items()
            },
        )


def _large(rng: np.random.Generator) -> tuple[int, ...]:
    """A thread that has units in a layer of any size, so that no table of cases helps."""
    units, warps, gates, H = (int(rng.integers(*bounds)) for bounds in ((2, 7), (2, 7), (1, 5), (100, 300)))
    block, warp = divmod(int(rng.integers(0, H // units)), warps)
    return block, warp * 32 + int(rng.integers(32)), H, gates, units, warps


def _array(pairs: object) -> object:
    """[n,2] (row, column), sorted, so that any order is right; what is no list of pairs stays as it is."""
    if not isinstance(pairs, list | tuple) or any(np.shape(pair) != (2,) for pair in pairs):
        return pairs
    return np.array(sorted(map(tuple, pairs)), dtype="int64").reshape(-1, 2)


TILE_FOR_THREAD = Exercise(
    name="tile_for_thread",
    points=2,
    difficulty=3,
    minutes=15,
    lines=4,
    hints=(
        "Find the warp first, counted through the whole grid, and the thread's lane in it. Which units does "
        "that warp have, and which columns has the lane?",
        "Warp w has units w·units … (w+1)·units, as far as there are H. Gate g of unit u is row g·H + u. "
        "A lane has columns lane, lane + 32, lane + 64, …",
        "`warp = block * warps + thread // 32`, `lane = thread % 32`; then three loops: units of the warp, "
        "gates, `range(lane, H, 32)`.",
    ),
    check=check,
    truth=tile_for_thread,
    mutants=MUTANTS,
    also_right=(
        """def tile_for_thread(block, thread, H, gates, units, warps):
    found = []
    for row in range(gates * H):
        for column in range(H):
            warp = row % H // units
            if warp // warps == block and warp % warps * 32 + column % 32 == thread:
                found.append((row, column))
    return found
""",
        """def tile_for_thread(block, thread, H, gates, units, warps):
    first = (block * warps + thread // 32) * units
    rows = [u + g * H for g in range(gates) for u in range(first, first + units) if u < H]
    columns = np.arange(thread % 32, H, 32)
    return [(row, int(column)) for column in columns for row in rows]
""",
    ),
)
