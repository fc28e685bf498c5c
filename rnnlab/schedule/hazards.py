"""Hazards: which operations must wait for which, derived from what they read and write; wrong orders refused.

Three hazards, as in any processor: a read after the write it needs, a write after a read of what it
overwrites, a write after a write.  An operation that waits for another need not wait for what stands before
that one, so only the nearest hazards count: for every region the latest writers, and the readers since.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from rnnlab.schedule.plan import Operation, Plan, Region, Span, overlap

READ_AFTER_WRITE = "read after write"
WRITE_AFTER_READ = "write after read"
WRITE_AFTER_WRITE = "write after write"
Bucket = tuple[str, int]  # a buffer, and a block of its rows
Table = dict[Bucket, list[tuple[Region, int]]]  # regions in a bucket, each with the place of its operation


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
    for hazard in hazards(plan):
        if place[hazard.earlier] > place[hazard.later]:
            return hazard
    return None


def unordered(plan: Plan, events: list[tuple[int, int]]) -> list[Hazard]:
    """Hazards that streams and events (recorded after, waited for before) leave open.

    Operations of a stream run in issue order; nothing else orders two operations but an event.
    """
    finished = _finished(plan, events)
    still_open = []
    for hazard in hazards(plan):
        has_finished = finished[hazard.later] >> hazard.earlier & 1
        if not has_finished:
            still_open.append(hazard)
    return still_open


def describe(plan: Plan, hazard: Hazard) -> str:
    """The hazard as a sentence: which operation does what to which region before which other operation."""
    kind, earlier_place, later_place, region = hazard
    earlier = plan.operations[earlier_place]
    later = plan.operations[later_place]
    if kind == READ_AFTER_WRITE:
        return f"{later} reads {region} before {earlier} has written it"
    if kind == WRITE_AFTER_READ:
        return f"{later} overwrites {region} before {earlier} has read it"
    return f"{later} writes {region} before {earlier}, whose value would win"


class _Accesses:
    """Latest writers of every bucket of rows, and its readers since.

    A bucket is as many rows as the smallest region of the buffer that an operation touches.  Buffers that no
    operation writes have no buckets: they cause no hazard.
    """

    def __init__(self, plan: Plan):
        heights: dict[str, int] = {}
        written = set()
        for operation in plan.operations:
            written |= {region.buffer for region in operation.writes}
            for region in operation.reads + operation.writes:
                rows, _ = region.shape
                heights[region.buffer] = min(rows, heights.get(region.buffer, rows))
        self.height = {buffer: heights[buffer] for buffer in written}
        self.buckets: dict[Region, list[Bucket]] = {}
        self.writers: Table = defaultdict(list)
        self.readers: Table = defaultdict(list)

    def hazards_of(self, index: int, operation: Operation) -> Iterator[Hazard]:
        """The hazards between an operation and those entered before it, each earlier one once."""
        seen = set()
        searches = [(READ_AFTER_WRITE, self.writers, region) for region in operation.touches]
        for region in operation.writes:
            searches.append((WRITE_AFTER_READ, self.readers, region))
            searches.append((WRITE_AFTER_WRITE, self.writers, region))
        for kind, table, region in searches:
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
                    entries = table[bucket]
                    table[bucket] = [entry for entry in entries if not _covers(region, entry[0], block)]
                self.writers[bucket].append((region, index))
        for region in operation.reads:
            for bucket in self._buckets(region):
                self.readers[bucket].append((region, index))

    def _buckets(self, region: Region) -> list[Bucket]:
        if region not in self.buckets:
            name, (top, bottom), _ = region
            height = self.height.get(name)
            blocks = ()
            if height:
                blocks = range(top // height, -(-bottom // height))
            self.buckets[region] = [(name, block) for block in blocks]
        return self.buckets[region]

    def _block(self, bucket: Bucket) -> Span:
        buffer, number = bucket
        height = self.height[buffer]
        return number * height, (number + 1) * height


def _covers(new: Region, old: Region, block: Span) -> bool:
    """Does the new region hold all of the old one within a block of rows?"""
    top, bottom = old.rows
    block_top, block_bottom = block
    rows = max(top, block_top), min(bottom, block_bottom)
    return _contains(new.columns, old.columns) and _contains(new.rows, rows)


def _contains(outer: Span, inner: Span) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


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
