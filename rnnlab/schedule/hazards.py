"""Who must wait for whom, derived from what operations read and write; and orders that break it, refused.

Three hazards, as in any processor: a read after the write it needs, a write after a read of what it
overwrites, a write after a write.  An operation that waits for another needs no word about what stands before
that one, so only the nearest hazards are kept.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from rnnlab.schedule.plan import Operation, Plan, Region, overlap

ROWS = 64  # rows of a bucket, when the plan's minibatch does not say better


class Hazard(NamedTuple):
    """`later` must wait for `earlier`, because of `region`."""

    kind: str  # "read after write", "write after read", "write after write"
    earlier: int
    later: int
    region: Region


def hazards(plan: Plan) -> list[Hazard]:
    """All direct hazards between operations, by their place in the plan."""
    watch = _Watch(plan)
    found = []
    for index, operation in enumerate(plan.operations):
        found += watch.arrive(index, operation)
    return found


def dependencies(plan: Plan) -> list[tuple[int, ...]]:
    """For each operation, the places of those that it must wait for, in order."""
    waits = [set() for _ in plan.operations]
    for hazard in hazards(plan):
        waits[hazard.later].add(hazard.earlier)
    return [tuple(sorted(each)) for each in waits]


def check_order(plan: Plan, order: Sequence[int]) -> None:
    """Raises ValueError, naming the first hazard, if running the plan's operations in `order` breaks one."""
    if sorted(order) != list(range(len(plan.operations))):
        raise ValueError(f"an order names each of the {len(plan.operations)} operations once")
    place = {index: at for at, index in enumerate(order)}
    for hazard in hazards(plan):
        if place[hazard.earlier] > place[hazard.later]:
            raise ValueError(describe(plan, hazard))


def unordered(plan: Plan, events: list[tuple[int, int]]) -> list[Hazard]:
    """Hazards that streams and events (recorded after, waited for before) leave open.

    Operations of a stream run in issue order; nothing else orders two operations but an event.
    """
    finished = _finished(plan, events)
    return [each for each in hazards(plan) if not finished[each.later] >> each.earlier & 1]


def describe(plan: Plan, hazard: Hazard) -> str:
    """The hazard as a sentence: who does what to what before whom."""
    earlier, later = plan.operations[hazard.earlier], plan.operations[hazard.later]
    words = {
        "read after write": f"{later} reads {hazard.region} before {earlier} has written it",
        "write after read": f"{later} overwrites {hazard.region} before {earlier} has read it",
        "write after write": f"{later} writes {hazard.region} before {earlier}, whose value would win",
    }
    return words[hazard.kind]


class _Watch:
    """The latest writer and the readers since, of every region; buckets of a step's rows keep it quick."""

    def __init__(self, plan: Plan):
        self.rows = plan.sizes.B or ROWS
        self.written = {region.buffer for each in plan.operations for region in each.writes}
        self.writers = defaultdict(list)  # bucket -> [(region, operation)]
        self.readers = defaultdict(list)

    def buckets(self, region: Region):
        if region.buffer not in self.written:
            return
        for block in range(region.rows[0] // self.rows, -(-region.rows[1] // self.rows)):
            yield region.buffer, block

    def arrive(self, index: int, operation: Operation) -> list[Hazard]:
        found = {}
        for region in operation.touches:
            self._collect(found, "read after write", self.writers, region, index)
        for region in operation.writes:
            self._collect(found, "write after read", self.readers, region, index)
            self._collect(found, "write after write", self.writers, region, index)
        for region in operation.writes:
            self._replace(region, index)
        for region in operation.reads:
            for bucket in self.buckets(region):
                self.readers[bucket].append((region, index))
        return list(found.values())

    def _collect(self, found, kind, table, region, index):
        for bucket in self.buckets(region):
            for other, earlier in table[bucket]:
                if earlier != index and overlap(region, other):
                    found.setdefault(earlier, Hazard(kind, earlier, index, other))

    def _replace(self, region, index):
        for bucket in self.buckets(region):
            for table in (self.writers, self.readers):
                table[bucket] = [
                    entry for entry in table[bucket] if not _covers(region, entry[0], bucket, self.rows)
                ]
            self.writers[bucket].append((region, index))


def _covers(new: Region, old: Region, bucket: tuple[str, int], rows: int) -> bool:
    """Inside the bucket, does the new region hold all of the old one?"""
    low, high = bucket[1] * rows, (bucket[1] + 1) * rows
    return (
        new.rows[0] <= max(old.rows[0], low)
        and min(old.rows[1], high) <= new.rows[1]
        and new.columns[0] <= old.columns[0]
        and old.columns[1] <= new.columns[1]
    )


def _finished(plan: Plan, events: list[tuple[int, int]]) -> list[int]:
    """For each operation, a bit for every operation that has certainly finished when it starts."""
    waits, last, finished = defaultdict(list), {}, []
    for recorded, waiting in events:
        waits[waiting].append(recorded)
    for index, operation in enumerate(plan.operations):
        before = 0
        for earlier in [*waits[index], *([last[operation.stream]] if operation.stream in last else [])]:
            before |= finished[earlier] | 1 << earlier
        finished.append(before)
        last[operation.stream] = index
    return finished
