"""Replay of a schedule on simulated ranks: when each transfer starts and ends, and what is wrong with it.

Every rank has a clock.  A transfer starts when both its ranks are free, takes α + bytes·β, and γ for each
byte that is added.  Beside the clocks travel the names of the ranks whose contributions a chunk holds: so a
chunk that is reduced twice, a sum that is sent before it is complete, and a rank that ends without a whole
sum are found.  Above CELLS such names, a sample of the chunks is followed; clocks always count all chunks.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rnnlab.scaling.costs import Link, check_ranks, check_size
from rnnlab.scaling.simulated_transfers import Schedule, Step

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
class Replay:
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
) -> Replay:
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
    return Replay(schedule, size, clocks.now, clocks.traffic, *counts, events, findings, whole)


class _Clocks:
    """Clock of every rank, and the transfers that moved it."""

    def __init__(self, schedule: Schedule, size: float, links: tuple):
        self.piece, self.links = size / schedule.chunks, links
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
        self.steps, self.transfers = self.steps + 1, self.transfers + len(size)
        if self.transfers <= EVENTS:
            columns = (*step[:4], adds, start, end)
            rows = zip(*(column.tolist() for column in columns), strict=True)
            self.events += [Event(number, *row) for row in rows]

    def _duration(self, step: Step, size: np.ndarray, adds: np.ndarray) -> np.ndarray:
        inside, between, node = self.links
        near = step.source // node == step.target // node
        latency = np.where(near, inside.latency, between.latency)
        byte = np.where(near, inside.byte, between.byte)
        return latency + size * (byte + adds * np.where(near, inside.addition, between.addition))


class _Contributions:
    """Ranks whose numbers each chunk holds at each rank, as bits [p, followed chunks, words]."""

    def __init__(self, schedule: Schedule):
        p, self.findings = schedule.ranks, []
        words = -(-p // WORD)
        room = max(1, min(schedule.chunks, CELLS // (p * words)))
        self.followed = np.unique(np.linspace(0, schedule.chunks - 1, room).round().astype(int))
        own, rank = np.zeros((p, words), np.uint64), np.arange(p)
        own[rank, rank // WORD] = np.uint64(1) << (rank % WORD).astype(np.uint64)
        self.whole = np.bitwise_or.reduce(own, axis=0)
        self.bits = np.repeat(own[:, np.newaxis], len(self.followed), axis=1)

    def pass_on(self, number: int, step: Step) -> np.ndarray:
        """Let the contributions of one step travel; which transfers add [K]."""
        self._check_ports(number, step)
        low, high = (np.searchsorted(self.followed, side) for side in (step.first, step.last))
        transfer = np.repeat(np.arange(len(low)), high - low)
        column = np.arange(len(transfer)) - np.repeat(np.cumsum(high - low) - (high - low), high - low)
        column += low[transfer]
        source, target = step.source[transfer], step.target[transfer]
        moved = self.bits[source, column]  # read before anything is written: a step is simultaneous
        old = self.bits[target, column]
        whole = (moved == self.whole).all(axis=1)
        adds = ~whole if step.adds is None else step.adds[transfer]
        self._check_sums(number, (source, target, column), (moved, old), (adds, whole))
        self.bits[target, column] = np.where(adds[:, np.newaxis], moved | old, moved)
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
            names = self._names(~self.bits[rank, column] & self.whole)
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
        if (own := step.source[step.source == step.target]).size:
            self.findings.append(f"In step {number} rank {own[0]} sends a message to itself.")

    def _check_sums(self, number: int, places: tuple, bits: tuple, kinds: tuple) -> None:
        (source, target, column), (moved, old), (adds, whole) = places, bits, kinds
        for k in np.flatnonzero(adds & (moved & old).any(axis=1))[:1]:
            chunk, names = self.followed[column[k]], self._names(moved[k] & old[k])
            self.findings.append(
                f"In step {number} rank {target[k]} adds chunk {chunk} from rank {source[k]} and reduces it "
                f"twice: the contribution of {names} is in both sums."
            )
        for k in np.flatnonzero(~adds & ~whole)[:1]:
            chunk, names = self.followed[column[k]], self._names(~moved[k] & self.whole)
            self.findings.append(
                f"In step {number} rank {source[k]} sends chunk {chunk} to rank {target[k]} as a whole sum, "
                f"but it is incomplete: {names} is missing."
            )

    def _names(self, bits: np.ndarray) -> str:
        """Ranks whose bits are set, in words; the first few if there are many."""
        ranks = [w * WORD + b for w, word in enumerate(bits.tolist()) for b in range(WORD) if word >> b & 1]
        shown = ", ".join(map(str, ranks[:4])) + (", …" if len(ranks) > 4 else "")
        return f"rank{'s' * (len(ranks) > 1)} {shown}"
