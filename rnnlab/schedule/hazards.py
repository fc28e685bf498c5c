"""Hazards: which operations must wait for which, derived from what they read and write; wrong orders refused.

Three hazards, as in any processor: a read after the write it needs, a write after a read of what it
overwrites, a write after a write.  An operation that waits for another need not wait for what stands before
that one, so only the nearest hazards count: for every region the latest writers, and the readers since.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from rnnlab.schedule.plan import Operation, Plan, Region, overlap

READ_AFTER_WRITE = "read after write"
WRITE_AFTER_READ = "write after read"
WRITE_AFTER_WRITE = "write after write"
Bucket = tuple[str, int]  # a buffer, and a block of its rows


class Hazard(NamedTuple):
    """`later` must wait for `earlier`, because of `region`."""

    kind: str
    earlier: int
    later: int
    region: Region


def hazards(plan: Plan) -> list[Hazard]:
    """All direct hazards between operations, by their place in the plan."""
    accesses = _Accesses(plan)
    result = []
    for index, operation in enumerate(plan.operations):
        result += accesses.hazards_of(index, operation)
        accesses.enter(index, operation)
    return result


def dependencies(plan: Plan) -> list[tuple[int, ...]]:
    """The places of the operations that each operation must wait for, in order."""
    earlier = [[] for _ in plan.operations]
    for hazard in hazards(plan):
        earlier[hazard.later].append(hazard.earlier)
    return [tuple(sorted(places)) for places in earlier]


def check_order(plan: Plan, order: Sequence[int]) -> None:
    """Raises ValueError, naming the first hazard, if running the plan's operations in `order` breaks one."""
    if sorted(order) != list(range(len(plan.operations))):
        raise ValueError(f"an order names each of the {len(plan.operations)} operations once")
    place = sorted(range(len(order)), key=order.__getitem__)  # of each operation in the order
    if broken := first_broken(plan, place):
        raise ValueError(describe(plan, broken))


def first_broken(plan: Plan, place: Sequence[int]) -> Hazard | None:
    """The first hazard that is open if operation i runs at place[i]; equal places are one operation."""
    return next((hazard for hazard in hazards(plan) if place[hazard.earlier] > place[hazard.later]), None)


def unordered(plan: Plan, events: list[tuple[int, int]]) -> list[Hazard]:
    """Hazards that streams and events (recorded after, waited for before) leave open.

    Operations of a stream run in issue order; nothing else orders two operations but an event.
    """
    finished = _finished(plan, events)
    return [hazard for hazard in hazards(plan) if not finished[hazard.later] >> hazard.earlier & 1]


def describe(plan: Plan, hazard: Hazard) -> str:
    """The hazard as a sentence: which operation does what to which region before which other operation."""
    earlier = plan.operations[hazard.earlier]
    later = plan.operations[hazard.later]
    descriptions = {
        READ_AFTER_WRITE: f"{later} reads {hazard.region} before {earlier} has written it",
        WRITE_AFTER_READ: f"{later} overwrites {hazard.region} before {earlier} has read it",
        WRITE_AFTER_WRITE: f"{later} writes {hazard.region} before {earlier}, whose value would win",
    }
    return descriptions[hazard.kind]


class _Accesses:
    """Latest writers of every bucket of rows, and its readers since.

    A bucket is as many rows as the smallest region of the buffer that an operation touches.  Buffers that no
    operation writes have no buckets: they cause no hazard.
    """

    def __init__(self, plan: Plan):
        written = (region.buffer for operation in plan.operations for region in operation.writes)
        self.height: dict[str, int] = dict.fromkeys(written, sys.maxsize)
        for operation in plan.operations:
            for region in operation.reads + operation.writes:
                if region.buffer in self.height:
                    self.height[region.buffer] = min(self.height[region.buffer], region.shape[0])
        self.buckets: dict[Region, list[Bucket]] = {}
        self.writers: dict[Bucket, list[tuple[Region, int]]] = defaultdict(list)
        self.readers: dict[Bucket, list[tuple[Region, int]]] = defaultdict(list)

    def hazards_of(self, index: int, operation: Operation) -> Iterator[Hazard]:
        """The hazards between an operation and those entered before it, each earlier one once."""
        seen = set()
        steps = [(READ_AFTER_WRITE, self.writers, region) for region in operation.touches]
        for region in operation.writes:
            steps += [(WRITE_AFTER_READ, self.readers, region), (WRITE_AFTER_WRITE, self.writers, region)]
        for kind, table, region in steps:
            entries = chain.from_iterable(map(table.__getitem__, self._buckets(region)))
            for other, earlier in entries:
                if earlier not in seen and overlap(region, other):
                    seen.add(earlier)
                    yield Hazard(kind, earlier, index, other)

    def enter(self, index: int, operation: Operation) -> None:
        """Enter what an operation touches; drop what it overwrites, since later ones wait for it instead."""
        for region in operation.writes:
            for bucket in self._buckets(region):
                block = self._block(bucket)
                for table in (self.writers, self.readers):
                    table[bucket] = [entry for entry in table[bucket] if not _covers(region, entry[0], block)]
                self.writers[bucket].append((region, index))
        for region in operation.reads:
            for bucket in self._buckets(region):
                self.readers[bucket].append((region, index))

    def _buckets(self, region: Region) -> list[Bucket]:
        if region not in self.buckets:
            name, (top, bottom), _ = region
            height = self.height.get(name)
            blocks = range(top // height, -(-bottom // height)) if height else ()
            self.buckets[region] = [(name, block) for block in blocks]
        return self.buckets[region]

    def _block(self, bucket: Bucket) -> tuple[int, int]:
        height = self.height[bucket[0]]
        return bucket[1] * height, (bucket[1] + 1) * height


def _covers(new: Region, old: Region, block: tuple[int, int]) -> bool:
    """Does the new region hold all of the old one within a block of rows?"""
    across = new.columns[0] <= old.columns[0] and old.columns[1] <= new.columns[1]
    return across and new.rows[0] <= max(old.rows[0], block[0]) and min(old.rows[1], block[1]) <= new.rows[1]


def _finished(plan: Plan, events: list[tuple[int, int]]) -> list[int]:
    """For each operation, a bit for every operation that has certainly finished when it starts."""
    waits = defaultdict(list)
    last = defaultdict(list)
    finished = []
    for recorded, waiting in events:
        waits[waiting].append(recorded)
    for index, operation in enumerate(plan.operations):
        before = 0
        for earlier in (*waits[index], *last[operation.stream]):
            before |= finished[earlier] | 1 << earlier
        finished.append(before)
        last[operation.stream] = [index]
    return finished
