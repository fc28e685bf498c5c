"""Who must wait for whom, derived from what operations read and write; and orders that break it, refused.

Three hazards, as in any processor: a read after the write it needs, a write after a read of what it
overwrites, a write after a write.  An operation that waits for another needs no word about what stands before
that one, so only the nearest hazards are kept.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rnnlab.schedule.plan import Operation, Plan, Region, overlap


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


def dependencies(plan: Plan, found: Iterable[Hazard] | None = None) -> list[tuple[int, ...]]:
    """For each operation, the places of those that it must wait for, in order; found: hazards(plan)."""
    waits = [set() for _ in plan.operations]
    for hazard in hazards(plan) if found is None else found:
        waits[hazard.later].add(hazard.earlier)
    return [tuple(sorted(each)) for each in waits]


def check_order(plan: Plan, order: Sequence[int], found: Iterable[Hazard] | None = None) -> None:
    """Raises ValueError, naming the first hazard, if running the plan's operations in `order` breaks one."""
    if sorted(order) != list(range(len(plan.operations))):
        raise ValueError(f"an order names each of the {len(plan.operations)} operations once")
    place = {index: at for at, index in enumerate(order)}
    for hazard in hazards(plan) if found is None else found:
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
    """The latest writer and the readers since, of every region; buckets of a few rows keep it quick."""

    def __init__(self, plan: Plan):
        self.rows = _bucket_rows(plan)
        self.writers = defaultdict(list)  # bucket -> [(region, operation)]
        self.readers = defaultdict(list)
        self.known = {}  # region -> its buckets: a network's operations name the same few again and again

    def buckets(self, region: Region) -> Sequence[tuple[str, int]]:
        """Where to look for the region; nowhere if nobody writes to its buffer."""
        known = self.known.get(region)
        if known is None:
            buffer, (first, last), _ = region
            rows = self.rows.get(buffer)
            blocks = range(first // rows, -(-last // rows)) if rows else ()
            known = self.known[region] = tuple((buffer, block) for block in blocks)
        return known

    def arrive(self, index: int, operation: Operation) -> list[Hazard]:
        touched = [(region, self.buckets(region)) for region in operation.touches]
        written = [(region, self.buckets(region)) for region in operation.writes]
        found = {}
        for region, buckets in touched:
            _collect(found, "read after write", self.writers, region, buckets, index)
        for region, buckets in written:
            _collect(found, "write after read", self.readers, region, buckets, index)
            _collect(found, "write after write", self.writers, region, buckets, index)
        for region, buckets in written:
            self._replace(region, buckets, index)
        for region, buckets in touched[: len(operation.reads)]:
            for bucket in buckets:
                self.readers[bucket].append((region, index))
        return list(found.values())

    def _replace(self, region, buckets, index):
        rows = self.rows[region.buffer]
        for bucket in buckets:
            for table in (self.writers, self.readers):
                if old := table[bucket]:
                    table[bucket] = [each for each in old if not _covers(region, each[0], bucket, rows)]
            self.writers[bucket].append((region, index))


def _bucket_rows(plan: Plan) -> dict[str, int]:
    """Rows of a bucket, for every buffer that is written to: those of the smallest piece that is touched."""
    smallest = {region.buffer: region.shape[0] for each in plan.operations for region in each.writes}
    for each in plan.operations:
        for buffer, (first, last), _ in each.reads + each.writes:
            if last - first < smallest.get(buffer, 0):
                smallest[buffer] = last - first
    return smallest


def _collect(found, kind, table, region, buckets, index):
    for bucket in buckets:
        for other, earlier in table[bucket]:
            if earlier not in found and earlier != index and (other is region or overlap(region, other)):
                found[earlier] = Hazard(kind, earlier, index, other)


def _covers(new: Region, old: Region, bucket: tuple[str, int], rows: int) -> bool:
    """Inside the bucket, does the new region hold all of the old one?"""
    if new is old:
        return True
    (_, (first, last), (left, right)), (_, (top, bottom), (start, end)) = new, old
    low, high = bucket[1] * rows, (bucket[1] + 1) * rows
    return left <= start and end <= right and first <= max(top, low) and min(bottom, high) <= last


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
