"""Constants of rnnlab/kernels/packed/split.py, measured on this machine: python -m bench.split_constants

A product of a time step's size by one thread, with weights that fit the second-level cache and with weights
that do not, gives RATE and BANDWIDTH; steps of two members with and without a barrier give BARRIER.  Then a
training step is timed both ways, by sequences and by units, in turns at each size of the benchmark.
Run it on a machine that runs nothing else: a member that loses its core holds up the others at the barrier.

With --turn nothing is timed: each constant is turned by ±30 %, and what the model then chooses otherwise is
listed, with what that choice costs by the constants as they are.
"""

import sys
from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from numba import njit

from rnncourse.lab.turns import Timing, disturbance, take_turns
from rnncourse.records.workload import CELLS, SHAPES
from rnnlab.cells import find_cell
from rnnlab.kernels.cells import KERNEL_PROPERTIES
from rnnlab.kernels.packed import forward, propagation, split, team
from rnnlab.kernels.packed.barrier import wait
from rnnlab.kernels.packed.host import ROWS
from rnnlab.kernels.packed.memory import aligned
from rnnlab.kernels.packed.panels import panel_count, panel_width
from rnnlab.kernels.packed.products import multiply_rows
from rnnlab.network import Network

B = 6 * ROWS
K = 512
STEPS = 40
ROUNDS = 15
CONSTANTS = "RATE", "BANDWIDTH", "BARRIER", "CACHE_PART"
SMALL = 2**20
LARGE = 2**23  # bytes of weights
TURNS = (0.7, 1.3)
WAYS = {"sequences": split._by_sequences, "units": split._by_units}


@njit(nogil=True)
def _steps(steps, a, panels, first, last, c, width, counter, members):
    """Products of a [B,K] with panels first … last; after each step all members wait for each other."""
    for _ in range(steps):
        for p in range(first, last):
            multiply_rows(B, a, 0, K, panels, p * K * width, K, c, p * B * width, width, False)
        wait(counter, members)


def constants() -> tuple[dict[str, float], dict[str, Timing]]:
    """RATE (FLOP/s), BANDWIDTH (bytes/s) and BARRIER (seconds), and the timings they follow from."""
    width = panel_width("float32")
    panels = {size: size // (4 * K * width) for size in (SMALL, LARGE)}
    a = aligned(B * K, "float32")
    weights = aligned(LARGE // 4, "float32")
    c = aligned(B * width * panels[LARGE], "float32")
    a[:] = 1
    weights[:] = 1

    def work(size: int, members: int, waiting: int) -> None:
        counter = np.zeros(1, "int64")
        cuts = np.linspace(0, panels[size], members + 1).astype(int)

        def task(k):
            return _steps(STEPS, a, weights, cuts[k], cuts[k + 1], c, width, counter, waiting)

        team.run(task, members)

    ways = {"small": (SMALL, 1, 1), "large": (LARGE, 1, 1), "free": (SMALL, 2, 1), "barrier": (SMALL, 2, 2)}
    timings = take_turns({name: partial(work, *way) for name, way in ways.items()}, ROUNDS)
    seconds = {name: timing.median / STEPS for name, timing in timings.items()}
    rate = 2 * B * SMALL / 4 / seconds["small"]
    beyond = seconds["large"] - LARGE / SMALL * seconds["small"]
    bandwidth = LARGE / beyond if beyond > 0 else float("inf")
    return {
        "RATE": rate,
        "BANDWIDTH": bandwidth,
        "BARRIER": max(0.0, seconds["barrier"] - seconds["free"]),
    }, timings


def both_ways(cell: str, shape: tuple[int, int, int, int], members: int) -> dict[str, Timing]:
    """Timings of a training step by sequences and by units."""
    T, sequences, I, H = shape
    network = Network.create(cell, I, H)
    draw = np.random.default_rng(0)
    x, dy = (draw.standard_normal((T, sequences, size), dtype="float32") for size in (I, H))

    def step(way: str) -> None:
        def parts(sizes):
            return min(members, sizes.B if way == "sequences" else sizes.P)

        propagation.split = lambda sizes, *_: WAYS[way](sizes, parts(sizes))
        _, _, saved = propagation.forward(network, x, None, members)
        propagation.backward(network, saved, dy, None, members)

    try:
        return take_turns({way: partial(step, way) for way in WAYS}, ROUNDS)
    finally:
        propagation.split = split.split


class Change(NamedTuple):
    """A choice that a turned constant changes."""

    constant: str
    factor: float
    cell: str
    shape: tuple[int, int, int, int]
    way: str  # chosen then
    loss: float  # by the constants as they are: how much longer a step takes, 0.1 is a tenth


def turned(members: int, cache_bytes: int, factors: Sequence[float] = TURNS) -> list[Change]:
    """Every choice of the model that changes if one of its constants is turned by these factors."""
    changes = []
    choose = split.split.__wrapped__  # a choice that is kept knows no turned constant
    for cell, shape in product(CELLS, SHAPES):
        T, B, I, H = shape
        gates = len(find_cell(cell).gates)
        panels = panel_count(H, "float32")
        sizes = forward.Sizes(KERNEL_PROPERTIES[cell], T, B, I, H, gates, panels, T, 1, T + 1)
        parts = {"sequences": (min(members, B), 1), "units": (1, min(members, panels))}
        seconds = {way: split._step(sizes, 4, cache_bytes, *part) for way, part in parts.items()}

        def way_of(sizes=sizes):
            return "units" if choose(sizes, members, 4, cache_bytes)[0].waits else "sequences"

        own = way_of()
        for constant, factor in product(CONSTANTS, factors):
            with patch.object(split, constant, factor * getattr(split, constant)):
                way = way_of()
            if way != own:
                changes.append(Change(constant, factor, cell, shape, way, seconds[way] / seconds[own] - 1))
    return changes


def print_turned(members: int, cache_bytes: int) -> None:
    """The changes, and how many of all choices they are."""
    changes = turned(members, cache_bytes)
    for constant, factor, cell, (T, B, I, H), way, loss in changes:
        print(f"{constant} × {factor:g}: {cell} {T}×{B}, {I}×{H} by {way}, {loss:+.1%} of a step")
    choices = len(CELLS) * len(SHAPES) * len(CONSTANTS) * len(TURNS)
    most = max((change.loss for change in changes), default=0.0)
    print(f"{len(changes)} of {choices} choices change ({members} members, {cache_bytes:,} bytes of cache).")
    print(f"The dearest costs {most:.1%} of a forward step")


def main(arguments: Sequence[str] = ()) -> None:
    """Print constants and both ways; with --turn what turned constants change."""
    if "--turn" in arguments:
        print_turned(max(2, team.count()), propagation._cache_bytes())
        return
    values, timings = constants()
    print("constant      measured   in split.py")
    for name, value in values.items():
        print(f"{name:10} {value:11.3g} {getattr(split, name):12.3g}")
    print(disturbance(timings))
    if team.count() < 2:
        print("One core: the two ways are the same")
        return
    for cell in CELLS:
        for shape in SHAPES:
            if shape[1] > 1:
                _compare(cell, shape)


def _compare(cell: str, shape: tuple[int, int, int, int]) -> None:
    T, sequences, I, H = shape
    timings = both_ways(cell, shape, team.count())
    times = ", ".join(f"{way} {1e3 * timing.median:.2f} ms" for way, timing in timings.items())
    network = Network.create(cell, I, H)
    _, shares = propagation._plan(network, T, sequences, I, team.count(), network.dtype)
    chosen = "units" if shares[0].waits else "sequences"
    print(f"{cell} {T}×{sequences}, {I}×{H}: {times}; the model takes {chosen}. {disturbance(timings)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
