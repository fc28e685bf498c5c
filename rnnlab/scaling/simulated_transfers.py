"""All-reduce schedules as data: who sends which chunks to whom in which step, for any number of ranks.

A schedule is a sequence of steps; the transfers of one step happen at the same time, and a rank sends one
message and receives one message in it at most.  A transfer either adds the chunks to the receiver's or
replaces them, once they are whole sums.  Steps are made when they are used: a ring of 10,000 ranks has
200 million transfers.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from rnnlab.scaling.costs import check_ranks


class Step(NamedTuple):
    """Transfers of one step, an array of whole numbers [K] each; chunks first … last−1 travel."""

    source: np.ndarray
    target: np.ndarray
    first: np.ndarray
    last: np.ndarray
    adds: np.ndarray | None  # False: replaces; None: replaces where the sum is whole


@dataclass(frozen=True)
class Schedule:
    """Steps by which `ranks` ranks sum an array that is cut into `chunks` equal chunks."""

    name: str
    ranks: int
    chunks: int
    steps: Callable[[], Iterator[Step]]

    def transfers(self) -> list[tuple[int, int, int, int]]:
        """(step, from, to, chunk) of the whole schedule, a line for each chunk; for a few ranks."""
        return [
            (number, int(source), int(target), chunk)
            for number, step in enumerate(self.steps())
            for source, target, first, last in zip(*step[:4], strict=True)
            for chunk in range(first, last)
        ]


def ring(ranks: int) -> Schedule:
    """Each rank passes one chunk to the next in every step: p−1 steps add, p−1 steps copy."""

    def steps() -> Iterator[Step]:
        rank = np.arange(ranks)
        for number in range(2 * (ranks - 1)):
            adds = number < ranks - 1
            chunk = (rank - number + (not adds) * ranks) % ranks
            yield step_of(rank, (rank + 1) % ranks, chunk, chunk + 1, adds)

    return Schedule("ring", ranks, ranks, steps)


def recursive_doubling(ranks: int) -> Schedule:
    """Partners at distance 1, 2, 4, … exchange whole arrays."""

    def steps() -> Iterator[Step]:
        power, rank = _core(ranks)
        yield from _fold(ranks)
        for distance in _doublings(power):
            yield step_of(rank, rank ^ distance, 0, 1, True)
        yield from _unfold(ranks)

    return Schedule("recursive doubling", ranks, 1, steps)


def rabenseifner(ranks: int) -> Schedule:
    """Halves, quarters, … are added between partners at half the distance each time, then gathered."""
    power, _ = _core(ranks)

    def steps() -> Iterator[Step]:
        rank = np.arange(power)
        first, last = np.zeros(power, int), np.full(power, power)
        yield from _fold(ranks, power)
        for distance in reversed(_doublings(power)):
            middle, upper = (first + last) // 2, (rank & distance) > 0
            yield step_of(
                rank, rank ^ distance, np.where(upper, first, middle), np.where(upper, middle, last), True
            )
            first, last = np.where(upper, middle, first), np.where(upper, last, middle)
        for distance in _doublings(power):
            partner = rank ^ distance
            yield step_of(rank, partner, first, last, False)
            first, last = np.minimum(first, first[partner]), np.maximum(last, last[partner])
        yield from _unfold(ranks, power)

    return Schedule("Rabenseifner", ranks, power, steps)


def tree(ranks: int) -> Schedule:
    """Sums go up a binomial tree to rank 0, and the whole sum comes down."""

    def steps() -> Iterator[Step]:
        for distance in _doublings(ranks):
            child = np.arange(distance, ranks, 2 * distance)
            yield step_of(child, child - distance, 0, 1, True)
        for distance in reversed(_doublings(ranks)):
            child = np.arange(distance, ranks, 2 * distance)
            yield step_of(child - distance, child, 0, 1, False)

    return Schedule("tree", ranks, 1, steps)


def one_reducer(ranks: int) -> Schedule:
    """Rank 0 receives from all others in turn, and sends the sum to all in turn."""

    def steps() -> Iterator[Step]:
        for other in range(1, ranks):
            yield step_of([other], [0], 0, 1, True)
        for other in range(1, ranks):
            yield step_of([0], [other], 0, 1, False)

    return Schedule("one reducer", ranks, 1, steps)


SCHEDULES: dict[str, Callable[[int], Schedule]] = {
    "one reducer": one_reducer,
    "tree": tree,
    "recursive doubling": recursive_doubling,
    "Rabenseifner": rabenseifner,
    "ring": ring,
}


def schedule(algorithm: str, ranks: int) -> Schedule:
    """The schedule of an algorithm.  Raises ValueError for an unknown one or fewer than one rank."""
    check_ranks(ranks)
    if algorithm not in SCHEDULES:
        raise ValueError(f"no schedule is called {algorithm!r}; there are {', '.join(SCHEDULES)}")
    return SCHEDULES[algorithm](ranks)


def from_transfers(ranks: int, chunks: int, transfers: Iterable[tuple[int, int, int, int]]) -> Schedule:
    """The schedule of (step, from, to, chunk), in any order: a chunk is added unless it is a whole sum.

    Raises ValueError, with the transfer, for one that names no rank or no chunk.
    """
    check_ranks(ranks)
    check_ranks(chunks, "chunks")
    rows = sorted(tuple(map(int, transfer)) for transfer in transfers)
    for number, source, target, chunk in rows:
        if not (number >= 0 and 0 <= source < ranks and 0 <= target < ranks and 0 <= chunk < chunks):
            raise ValueError(
                f"the transfer (step {number}, from {source}, to {target}, chunk {chunk}) does not exist: "
                f"steps begin at 0, ranks are 0 to {ranks - 1}, chunks 0 to {chunks - 1}"
            )

    def steps() -> Iterator[Step]:
        for _, group in groupby(rows, key=lambda row: row[0]):
            _, source, target, chunk = np.array(list(group)).T
            yield Step(source, target, chunk, chunk + 1, None)

    return Schedule("transfers", ranks, chunks, steps)


def step_of(source, target, first, last, adds: bool) -> Step:
    """Transfers with numbers widened to arrays."""
    source, target = np.asarray(source), np.asarray(target)
    widened = (np.broadcast_to(np.asarray(value), source.shape) for value in (first, last))
    return Step(source, target, *widened, np.full(source.shape, adds))


def _core(ranks: int) -> tuple[int, np.ndarray]:
    """The largest power of two within the ranks, and that many ranks."""
    power = 1 << (ranks.bit_length() - 1)
    return power, np.arange(power)


def _doublings(below: int) -> list[int]:
    """1, 2, 4, … below the bound."""
    return [1 << k for k in range((below - 1).bit_length())]


def _fold(ranks: int, chunks: int = 1) -> Iterator[Step]:
    """Ranks beyond a power of two hand their arrays to ranks within it."""
    power, _ = _core(ranks)
    if extra := ranks - power:
        yield step_of(np.arange(power, ranks), np.arange(extra), 0, chunks, True)


def _unfold(ranks: int, chunks: int = 1) -> Iterator[Step]:
    """Ranks beyond a power of two receive the sums."""
    power, _ = _core(ranks)
    if extra := ranks - power:
        yield step_of(np.arange(extra), np.arange(power, ranks), 0, chunks, False)
