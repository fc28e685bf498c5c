"""All-reduce schedules as data: who sends which chunks to whom in which step, for any number of ranks.

A schedule is a sequence of steps; the transfers of one step happen at the same time, and a rank sends one
message and receives one message in it at most.  A transfer either adds the chunks to the receiver's or
replaces them, once they are whole sums.  Steps are made when they are used: a ring of 10,000 ranks has
200 million transfers.

`replay` runs a schedule on simulated ranks.  A transfer starts when both its ranks are free, takes α +
bytes·β, and γ for each byte that is added.  Beside the clocks travel the names of the ranks whose
contributions a chunk holds: so a chunk that is reduced twice, a sum that is sent before it is complete, and
a rank that ends without a whole sum are found.  Above CELLS such names, a sample of the chunks is followed;
clocks always count all.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ranks.costs import Link, check_ranks, check_size, power_of_two


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
        transfers = []
        for number, step in enumerate(self.steps()):
            columns = [column.tolist() for column in step[:4]]
            for source, target, first, last in zip(*columns, strict=True):
                transfers += [(number, source, target, chunk) for chunk in range(first, last)]
        return transfers


SCHEDULES: dict[str, Callable[[int], Schedule]] = {}


def _algorithm(name: str, chunks: Callable[[int], int] = lambda ranks: 1) -> Callable:
    """Make a function that yields the steps of so many ranks one that returns their schedule."""

    def add(steps: Callable[[int], Iterator[Step]]) -> Callable[[int], Schedule]:
        SCHEDULES[name] = lambda ranks: Schedule(name, ranks, chunks(ranks), partial(steps, ranks))
        return SCHEDULES[name]

    return add


@_algorithm("one reducer")
def one_reducer(ranks: int) -> Iterator[Step]:
    """Rank 0 receives from all others in turn, and sends the sum to all in turn."""
    for other in range(1, ranks):
        yield step_of([other], [0], 0, 1, True)
    for other in range(1, ranks):
        yield step_of([0], [other], 0, 1, False)


@_algorithm("tree")
def tree(ranks: int) -> Iterator[Step]:
    """Sums go up a binomial tree to rank 0, and the whole sum comes down."""
    doublings = _doublings(ranks)
    for distance in doublings:
        child = np.arange(distance, ranks, 2 * distance)
        yield step_of(child, child - distance, 0, 1, True)
    for distance in reversed(doublings):
        child = np.arange(distance, ranks, 2 * distance)
        yield step_of(child - distance, child, 0, 1, False)


@_algorithm("recursive doubling")
def recursive_doubling(ranks: int) -> Iterator[Step]:
    """Partners at distance 1, 2, 4, … exchange whole arrays."""
    power = power_of_two(ranks)
    rank = np.arange(power)
    yield from _beyond(ranks, 1, True)
    for distance in _doublings(power):
        yield step_of(rank, rank ^ distance, 0, 1, True)
    yield from _beyond(ranks, 1, False)


@_algorithm("Rabenseifner", power_of_two)
def rabenseifner(ranks: int) -> Iterator[Step]:
    """Halves, quarters, … are added between partners at half the distance each time, then gathered."""
    power = power_of_two(ranks)
    rank = np.arange(power)
    first = np.zeros(power, int)
    last = np.full(power, power)
    yield from _beyond(ranks, power, True)
    for distance in reversed(_doublings(power)):
        middle = (first + last) // 2
        upper = (rank & distance) > 0
        begin = np.where(upper, first, middle)
        end = np.where(upper, middle, last)
        yield step_of(rank, rank ^ distance, begin, end, True)
        first = np.where(upper, middle, first)
        last = np.where(upper, last, middle)
    for distance in _doublings(power):
        partner = rank ^ distance
        yield step_of(rank, partner, first, last, False)
        first = np.minimum(first, first[partner])
        last = np.maximum(last, last[partner])
    yield from _beyond(ranks, power, False)


@_algorithm("ring", lambda ranks: ranks)
def ring(ranks: int) -> Iterator[Step]:
    """Each rank passes one chunk to the next in every step: p−1 steps add, p−1 steps copy."""
    rank = np.arange(ranks)
    following = (rank + 1) % ranks
    for number in range(2 * (ranks - 1)):
        adds = number < ranks - 1
        chunk = (rank - number) % ranks
        yield step_of(rank, following, chunk, chunk + 1, adds)


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
        has_ranks = 0 <= source < ranks and 0 <= target < ranks
        has_chunk = 0 <= chunk < chunks
        if number < 0 or not has_ranks or not has_chunk:
            raise ValueError(
                f"the transfer (step {number}, from {source}, to {target}, chunk {chunk}) does not exist: "
                f"steps begin at 0, ranks are 0 to {ranks - 1}, chunks 0 to {chunks - 1}"
            )

    def steps() -> Iterator[Step]:
        for _, group in groupby(rows, key=lambda row: row[0]):
            _, source, target, chunk = np.array(list(group)).T
            yield Step(source, target, chunk, chunk + 1, None)

    return Schedule("transfers", ranks, chunks, steps)


def step_of(source: object, target: object, first: object, last: object, adds: bool) -> Step:
    """Transfers whose source, target, first and last are whole numbers or arrays [K] of them."""
    source = np.asarray(source)
    target = np.asarray(target)
    first = np.broadcast_to(np.asarray(first), source.shape)
    last = np.broadcast_to(np.asarray(last), source.shape)
    return Step(source, target, first, last, np.full(source.shape, adds))


def _doublings(below: int) -> list[int]:
    """1, 2, 4, … below the bound."""
    return [1 << k for k in range((below - 1).bit_length())]


def _beyond(ranks: int, chunks: int, adds: bool) -> Iterator[Step]:
    """Ranks beyond a power of two hand their arrays to ranks within it, or receive the sums from these."""
    power = power_of_two(ranks)
    beyond = np.arange(power, ranks)
    within = np.arange(ranks - power)
    if ranks > power:
        source, target = (beyond, within) if adds else (within, beyond)
        yield step_of(source, target, 0, chunks, adds)


CELLS = 1 << 21  # 64-bit words of contributions that are followed: 16 MB
WORD = 64  # ranks in a word
EVENTS = 40_000  # transfers of which start and end are stored
FINDINGS = 5  # that are reported; the first ones explain the others


class Event(NamedTuple):
    """One transfer: chunks first … last−1 from a rank to another; times in seconds."""

    step: int
    source: int
    target: int
    first: int
    last: int
    adds: bool
    start: float
    end: float


@dataclass(frozen=True)
class TransferReplay:
    """Result of a schedule on simulated ranks."""

    schedule: Schedule
    size: float  # bytes of the array that is reduced
    end: np.ndarray  # seconds at which each rank is done [p]
    traffic: np.ndarray  # bytes that each rank sends [p]
    steps: int
    transfers: int
    events: tuple[Event, ...]  # all of them; none if there are more than EVENTS
    findings: tuple[str, ...]  # what is wrong, in the order in which it happens
    whole: np.ndarray  # does a rank end with the whole sum of a followed chunk? [p, followed chunks]

    @property
    def seconds(self) -> float:
        """Time until the last rank is done."""
        return float(self.end.max())


def replay(
    schedule: Schedule,
    size: float,
    link: Link,
    between: Link | None = None,
    node: int | None = None,
    follow: bool = True,
) -> TransferReplay:
    """The schedule's clocks and findings for an array of `size` bytes.

    between: the link of ranks in different nodes of `node` ranks, if not `link` as well.  follow=False leaves
    out findings, for a schedule that says which transfers add.  Raises ValueError for sizes that make no
    sense.
    """
    check_size(size)
    if (between is None) != (node is None):
        raise ValueError("a link between nodes needs the ranks of a node, and the other way round")
    if node is not None:
        check_ranks(node, "a node's ranks")
    clocks = _Clocks(schedule, size, (link, between or link, node or schedule.ranks))
    sums = _Contributions(schedule) if follow else None
    for number, step in enumerate(schedule.steps()):
        clocks.advance(number, step, sums.pass_on(number, step) if sums else step.adds)
    if sums:
        sums.check_end()
    counts = clocks.steps, clocks.transfers
    events = tuple(clocks.events) if clocks.transfers <= EVENTS else ()
    findings = tuple(sums.findings[:FINDINGS]) if sums else ()
    whole = sums.is_whole() if sums else np.zeros((schedule.ranks, 0), bool)
    return TransferReplay(schedule, size, clocks.now, clocks.traffic, *counts, events, findings, whole)


class _Clocks:
    """Clock of every rank, and the transfers that moved it."""

    def __init__(self, schedule: Schedule, size: float, links: tuple):
        self.piece = size / schedule.chunks
        self.links = links
        self.now = np.zeros(schedule.ranks)
        self.traffic = np.zeros(schedule.ranks)
        self.steps = self.transfers = 0
        self.events: list[Event] = []

    def advance(self, number: int, step: Step, adds: np.ndarray) -> None:
        """Let one step happen."""
        size = (step.last - step.first) * self.piece
        start = np.maximum(self.now[step.source], self.now[step.target])
        end = start + self._duration(step, size, adds)
        np.maximum.at(self.now, step.source, end)
        np.maximum.at(self.now, step.target, end)
        np.add.at(self.traffic, step.source, size)
        self.steps = self.steps + 1
        self.transfers = self.transfers + len(size)
        if self.transfers <= EVENTS:
            columns = (*step[:4], adds, start, end)
            rows = zip(*(column.tolist() for column in columns), strict=True)
            self.events += [Event(number, *row) for row in rows]

    def _duration(self, step: Step, size: np.ndarray, adds: np.ndarray) -> np.ndarray:
        inside, between, node = self.links
        near = step.source // node == step.target // node
        latency = np.where(near, inside.latency, between.latency)
        byte = np.where(near, inside.byte, between.byte)
        addition = np.where(near, inside.addition, between.addition)
        return latency + size * (byte + adds * addition)


class _Contributions:
    """Ranks whose numbers each chunk holds at each rank, as bits [p, followed chunks, words]."""

    def __init__(self, schedule: Schedule):
        p = schedule.ranks
        chunks = schedule.chunks
        self.findings = []
        words = -(-p // WORD)
        room = max(1, min(chunks, CELLS // (p * words)))
        sample = np.linspace(0, chunks - 1, room)
        self.followed = np.unique(sample.round().astype(int))
        own = np.zeros((p, words), np.uint64)
        rank = np.arange(p)
        bit = (rank % WORD).astype(np.uint64)
        own[rank, rank // WORD] = np.uint64(1) << bit
        self.whole = np.bitwise_or.reduce(own, axis=0)
        self.bits = np.repeat(own[:, np.newaxis], len(self.followed), axis=1)

    def pass_on(self, number: int, step: Step) -> np.ndarray:
        """Let the contributions of one step travel; which transfers add [K]."""
        self._check_ports(number, step)
        low = np.searchsorted(self.followed, step.first)
        high = np.searchsorted(self.followed, step.last)
        lengths = high - low
        begins = np.cumsum(lengths) - lengths
        transfer = np.repeat(np.arange(len(low)), lengths)
        column = np.arange(len(transfer)) - begins[transfer] + low[transfer]
        source = step.source[transfer]
        target = step.target[transfer]
        moved = self.bits[source, column]  # read before anything is written: a step is simultaneous
        old = self.bits[target, column]
        whole = (moved == self.whole).all(axis=1)
        adds = ~whole if step.adds is None else step.adds[transfer]
        self._check_sums(number, (source, target, column), (moved, old), (adds, whole))
        is_added = adds[:, np.newaxis]
        self.bits[target, column] = np.where(is_added, moved | old, moved)
        if step.adds is not None:
            return step.adds
        result = np.ones(len(step.source), bool)
        result[transfer] = adds
        return result

    def is_whole(self) -> np.ndarray:
        """Which chunks are whole sums [p, followed chunks]."""
        return (self.bits == self.whole).all(axis=2)

    def check_end(self) -> None:
        """Add a finding for the first rank that lacks contributions."""
        lacking = np.argwhere(~self.is_whole())
        if len(lacking):
            rank, column = lacking[0]
            missing = ~self.bits[rank, column] & self.whole
            names = self._names(missing)
            self.findings.append(
                f"At the end rank {rank} has no whole sum of chunk {self.followed[column]}: it lacks the "
                f"contribution of {names}."
            )

    def _check_ports(self, number: int, step: Step) -> None:
        for ranks, verb in ((step.source, "sends"), (step.target, "receives")):
            busy = np.bincount(ranks)
            if busy.max(initial=0) > 1:
                rank = busy.argmax()
                self.findings.append(
                    f"In step {number} rank {rank} {verb} {busy[rank]} messages; one at a time is possible."
                )
        to_itself = step.source[step.source == step.target]
        if to_itself.size:
            self.findings.append(f"In step {number} rank {to_itself[0]} sends a message to itself.")

    def _check_sums(self, number: int, places: tuple, bits: tuple, kinds: tuple) -> None:
        source, target, column = places
        moved, old = bits
        adds, whole = kinds
        in_both = moved & old
        is_twice = adds & in_both.any(axis=1)
        for k in np.flatnonzero(is_twice)[:1]:
            chunk = self.followed[column[k]]
            names = self._names(in_both[k])
            self.findings.append(
                f"In step {number} rank {target[k]} adds chunk {chunk} from rank {source[k]} and reduces it "
                f"twice: the contribution of {names} is in both sums."
            )
        for k in np.flatnonzero(~adds & ~whole)[:1]:
            chunk = self.followed[column[k]]
            names = self._names(~moved[k] & self.whole)
            self.findings.append(
                f"In step {number} rank {source[k]} sends chunk {chunk} to rank {target[k]} as a whole sum, "
                f"but it lacks {names}."
            )

    def _names(self, bits: np.ndarray) -> str:
        """Ranks whose bits are set, in words; the first few if there are many."""
        ranks = []
        for number, word in enumerate(bits.tolist()):
            ranks += [number * WORD + bit for bit in range(WORD) if word >> bit & 1]
        shown = [str(rank) for rank in ranks[:4]]
        if len(ranks) > 4:
            shown.append("…")
        noun = "ranks" if len(ranks) > 1 else "rank"
        return f"{noun} {', '.join(shown)}"
