"""An order of work for a product, as plain data: possible, within the registers, few loads, fast in a race.

Loads are counted from the schedule, so that most mistakes have a name and no clock. What is left then races
against the serial schedule, on this machine: a good one is 9 to 28 times as fast, 4 are required.  The
course's own schedule need not: that would measure the machine.  Numba races even where Halide is installed,
so that the same answer gets the same compiler everywhere.
"""

import numpy as np

from nbjudge.comparing.judging import refuse
from nbjudge.exercise import Wrong
from rnncourse.checks.answers import answers
from rnncourse.loop_nests import LoopNest, read

LEAST = 4  # times the serial schedule's speed
ENOUGH = 1.25  # times the fewest loads there can be
ROUNDS = 3  # of each race: the serial schedule takes 0.2 s of a core, and 4 is far from 9
RACES = 3  # another program may have the cores for a moment: one race won is enough
RACED = (576, 576, 576, 8, 16, 2)  # vectors of 8 numbers and 16 registers: what every 64-bit PC has

_fast: set[str] = set()  # schedules that won a race here: few are legal with so few loads


def draw_cases(rng) -> list[tuple]:
    """M, N, K, vector, registers, threads; the last is the one that races."""
    wide = int(rng.choice((4, 8, 16)))
    rest = int(rng.integers(5, 30)), wide * int(rng.integers(3, 20)), int(rng.integers(5, 90)), wide
    return [
        (64, 96, 32, 8, 16, int(rng.integers(2, 9))),
        (47, 208, 64, 16, 32, 1),  # no tile but one row, one vector or all divides these
        (2, 32, 16, 8, 32, 4),
        (*rest, int(rng.integers(7, 40)), int(rng.integers(1, 70))),
        RACED,
    ]


def check(submission, rng, *case):
    says = "M={}, N={}, K={}, vector={}, registers={}, threads={}".format(*case)
    got = _plain(submission(*case))
    try:
        problem = _waste(read(got, case[:3]), *case)
    except ValueError as impossible:
        problem = f"Such a schedule cannot be: {impossible}"
    if refuse(problem, says, detail=got) and case == RACED:
        refuse(_slow(got), says)


def loads(nest: LoopNest) -> float:
    """Accesses of registers for each multiply-add of vectors; sums outside registers are read and written."""
    rows, vectors = nest.tile["m"], nest.tile["n"] / nest.vectorise
    return (rows + vectors) / (rows * vectors) + (0 if nest.keeps_sums else 2)


def _fewest(M: int, N: int, vector: int, registers: int) -> float:
    tiles = ((r, v) for r in range(1, registers) for v in range(1, registers))
    fitting = ((r, v) for r, v in tiles if r * v + v + 1 <= registers and r <= M and v * vector <= N)
    return min((r + v) / (r * v) for r, v in fitting)


def _waste(nest: LoopNest, M, N, K, vector, registers, threads) -> str | None:
    """What the schedule leaves unused, as a sentence."""
    rows, vectors = nest.tile["m"], nest.tile["n"] // nest.vectorise
    if nest.vectorise != vector:
        return f"Its vectors have {nest.vectorise} numbers, this machine's {vector}."
    if nest.parallel != (threads > 1):
        return f"parallel is {nest.parallel}, and there are {threads} threads."
    if not nest.keeps_sums:
        return "k is not the innermost loop: each sum is read and written for every tile of k."
    if (needed := rows * vectors + vectors + 1) > registers:
        return f"A tile needs {needed} registers; there are {registers}."
    fewest, own = _fewest(M, N, vector, registers), loads(nest)
    if own > ENOUGH * fewest:
        return f"It loads {own:.2f} times for each multiply-add; {fewest:.2f} is possible."
    return None


def _plain(got: object) -> object:
    """The same schedule with Python's numbers in place of NumPy's: an answer may have either."""
    if isinstance(got, dict):
        return {key: _plain(value) for key, value in got.items()}
    return got.item() if isinstance(got, np.integer | np.bool) else got


def _slow(schedule: dict) -> Wrong | None:
    """What the clock says of a schedule whose counts are right; None if it is fast enough."""
    own = answers("parallel_cpu")["choose_schedule"].call(*RACED)
    if repr(schedule) in _fast or schedule == _plain(own):
        return None
    from rnncourse.loop_nests.race import race

    for _ in range(RACES):
        result = race(schedule, by="numba", rounds=ROUNDS)
        if result.ratio >= LEAST:
            _fast.add(repr(schedule))
            return None
    return Wrong(
        f"By the clock it is {result}; {LEAST} times are required.",
        next_step="Its counts are right. If other programs are busy, check again when they are not.",
    )
