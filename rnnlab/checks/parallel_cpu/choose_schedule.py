"""An order of work for a product, as plain data: possible, within the registers, few loads, fast in a race.

Loads are counted from the schedule, so that most mistakes have a name and no clock. What is left then races
against the serial schedule, on this machine: a good one is 9 to 28 times as fast, 4 are asked for.  Numba
races even where Halide is installed, so that the same answer meets the same compiler everywhere.
"""

import numpy as np

from rnnlab.grading.exercise import Exercise, Mutant, Wrong
from rnnlab.ladder.loop_nests import LoopNest, read

LEAST = 4  # times the serial schedule's speed
ENOUGH = 1.25  # times the fewest loads there can be
RACES = 3  # another program may have the cores for a moment: one race won is enough
RACED = (8, 16)  # numbers in a vector, registers: what every 64-bit PC has


def choose_schedule(M, N, K, vector, registers, threads):
    fits = lambda rows, vectors: rows * vectors + vectors + 1 <= registers
    loads = lambda rows, vectors: (rows + vectors) / (rows * vectors)
    counts = range(1, registers)
    tiles = [(r, v) for r in counts for v in counts if fits(r, v) and r <= M and v * vector <= N]
    rows, vectors = min(tiles, key=lambda tile: loads(*tile))
    tile = {"m": rows, "n": vectors * vector, "k": 1}
    return {"order": "mnk", "tile": tile, "vectorise": vector, "parallel": threads > 1}


MUTANTS = (
    Mutant("leaves vectors out", '"vectorise": vector', '"vectorise": 1'),
    Mutant("leaves threads idle", "threads > 1", "False"),
    Mutant("starts threads where there is one", "threads > 1", "True"),
    Mutant("writes the sums again for every k", '"mnk"', '"mkn"'),
    Mutant("adds to the same sums from several threads", '"mnk"', '"kmn"'),
    Mutant("works on one vector at a time", "min(tiles, key=lambda tile: loads(*tile))", "1, 1"),
    Mutant("takes more sums than registers", "<= registers", "<= 4 * registers"),
    Mutant(
        "fills the registers with one row",
        "min(tiles, key=lambda tile: loads(*tile))",
        "1, (registers - 1) // 2",
    ),
    Mutant("forgets how wide a vector is", '"n": vectors * vector', '"n": vectors'),
    Mutant("takes tiles larger than the matrix", " and r <= M and v * vector <= N", ""),
)


def check(submission, rng):
    threads = int(rng.integers(2, 9))
    cases = [
        (64, 96, 32, 8, 16, threads),
        (48, 128, 64, 16, 32, 1),
        (576, 576, 576, *RACED, 2),
        (2, 32, 16, 8, 32, 4),
        _large(rng),
    ]
    for case in cases:
        says = "M={}, N={}, K={}, vector={}, registers={}, threads={}".format(*case)
        got = _plain(submission(*case))
        try:
            nest = read(got, case[:3])
        except ValueError as impossible:
            raise Wrong(f"Such a schedule cannot be: {impossible} ({says})", _misread(got, case)) from None
        if found := _waste(nest, *case):
            raise Wrong(f"{found[0]} ({says})", found[1])
        if case[0] == 576:
            raced = got
    _race(raced)


def _large(rng: np.random.Generator) -> tuple[int, ...]:
    """A product and a machine of any size, so that no table of cases helps."""
    vector = int(2 ** rng.integers(1, 5))
    columns = vector * int(rng.integers(8, 40))
    rows, inner, registers, threads = (
        int(rng.integers(*bounds)) for bounds in ((40, 400), (20, 400), (12, 40), (1, 17))
    )
    return rows, columns, inner, vector, registers, threads


def loads(nest: LoopNest) -> float:
    """Of registers, for each multiply-add of vectors; sums that are not kept are read and written."""
    rows, vectors = nest.tile["m"], nest.tile["n"] / nest.vectorise
    return (rows + vectors) / (rows * vectors) + (0 if nest.keeps_sums else 2)


def _fewest(M: int, N: int, vector: int, registers: int) -> float:
    tiles = ((r, v) for r in range(1, registers) for v in range(1, registers))
    fitting = ((r, v) for r, v in tiles if r * v + v + 1 <= registers and r <= M and v * vector <= N)
    return min((r + v) / (r * v) for r, v in fitting)


def _waste(nest: LoopNest, M, N, K, vector, registers, threads) -> tuple[str, str | None] | None:
    """What the schedule leaves unused, as a sentence, and the name of the mistake."""
    rows, vectors = nest.tile["m"], nest.tile["n"] // nest.vectorise
    if nest.vectorise != vector:
        return f"Its vectors have {nest.vectorise} numbers, this machine's {vector}.", "leaves vectors out"
    if nest.parallel != (threads > 1):
        said = f"parallel is {nest.parallel}, and there are {threads} threads."
        return said, "leaves threads idle" if threads > 1 else "starts threads where there is one"
    if not nest.keeps_sums:
        return "k is not the innermost loop: each sum is read and written for every tile of k.", (
            "writes the sums again for every k"
        )
    if (needed := rows * vectors + vectors + 1) > registers:
        return f"A tile needs {needed} registers; there are {registers}.", "takes more sums than registers"
    fewest, mine = _fewest(M, N, vector, registers), loads(nest)
    if mine > ENOUGH * fewest:
        name = "works on one vector at a time" if rows * vectors == 1 else None
        name = "fills the registers with one row" if rows == 1 < vectors else name
        return f"It loads {mine:.2f} times for each multiply-add; {fewest:.2f} is possible.", name
    return None


def _misread(got: object, case: tuple) -> str | None:
    """The name of a mistake that makes a schedule impossible."""
    tile, (M, N, _, vector, *_) = got.get("tile") if isinstance(got, dict) else None, case
    if not isinstance(tile, dict):
        return None
    if str(got.get("order", "")).startswith("k"):
        return "adds to the same sums from several threads"
    rows, columns = (size if isinstance(size, int) else 1 for size in (tile.get("m", 1), tile.get("n", 1)))
    if rows > M or columns > N:
        return "takes tiles larger than the matrix"
    return "forgets how wide a vector is" if columns % vector else None


def _plain(got: object) -> object:
    """The same schedule with Python's numbers in place of NumPy's: an answer may have either."""
    if isinstance(got, dict):
        return {key: _plain(value) for key, value in got.items()}
    return got.item() if isinstance(got, np.integer | np.bool) else got


def _race(schedule: dict) -> None:
    from rnnlab.ladder.loop_nests.race import race

    for _ in range(RACES):
        raced = race(schedule, by="numba")
        if raced.ratio >= LEAST:
            return
    raise Wrong(
        f"By the clock it is {raced}; {LEAST} times are asked for.",
        next_step="Its counts are right. If other programs are busy, check again when they are not.",
    )


CHOOSE_SCHEDULE = Exercise(
    name="choose_schedule",
    points=3,
    difficulty=4,
    minutes=30,
    lines=8,
    hints=(
        "Sums that stay in registers are neither read nor written until they are complete. A tile of m rows "
        "and n columns is m · n/vector registers of sums. What must be loaded for one step of k, and how "
        "many multiply-adds does that feed?",
        "For a tile of r rows and v vectors, a step of k loads v vectors and r single numbers and does r · v "
        "multiply-adds: (r + v)/(r · v) loads each. It needs r·v registers for sums, v for the vectors and "
        "one for a single number. Try all pairs that fit and take the best.",
        "`fits = lambda r, v: r * v + v + 1 <= registers`; then `min(tiles, key=...)` over all (r, v) with "
        "r ≤ M and v·vector ≤ N; return order 'mnk', tile {'m': r, 'n': v * vector}, vectorise vector, "
        "parallel where threads > 1.",
    ),
    check=check,
    truth=choose_schedule,
    mutants=MUTANTS,
    also_right=(
        """def choose_schedule(M, N, K, vector, registers, threads):
    best = None
    for v in range(1, N // vector + 1):
        for r in range(1, M + 1):
            if r * v + v + 1 <= registers:
                candidate = ((r + v) / (r * v), r, v)
                best = candidate if best is None else min(best, candidate)
    _, r, v = best
    return dict(order="nmk", tile={"m": r, "n": v * vector}, vectorise=vector, parallel=threads > 1)
""",
        """def choose_schedule(M, N, K, vector, registers, threads):
    v = max(1, min(N // vector, int(registers**0.5) - 1))
    r = min(M, (registers - 1 - v) // v)
    return {"tile": {"m": r, "n": v * vector}, "vectorise": vector, "parallel": threads > 1}
""",
    ),
    seconds=60.0,
)
