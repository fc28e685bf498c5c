"""Who must wait for whom, derived from what operations read and write; and orders that break it, refused.

Three hazards, as in any processor: a read after the write it needs, a write after a read of what it
overwrites, a write after a write.  An operation that waits for another needs no word about what stands before
that one, so only the nearest hazards are kept: of every region the latest writer, and the readers since.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from rnnlab.schedule.plan import Plan, Region

KINDS = "read after write", "write after read", "write after write"


class Hazard(NamedTuple):
    """`later` must wait for `earlier`, because of `region`."""

    kind: str  # one of KINDS
    earlier: int
    later: int
    region: Region


class Waits(NamedTuple):
    """Pairs of operations, each pair once, by the later one's place and then the earlier one's."""

    earlier: np.ndarray
    later: np.ndarray


def hazards(plan: Plan) -> list[Hazard]:
    """All direct hazards between operations, by their place in the plan."""
    regions, found = _nearest(plan)
    return [Hazard(KINDS[kind], *pair, regions[region]) for kind, *pair, region in found.tolist()]


def dependencies(plan: Plan) -> list[tuple[int, ...]]:
    """For each operation, the places of those that it must wait for, in order."""
    waits = [[] for _ in plan.operations]
    for earlier, later in zip(*map(np.ndarray.tolist, _pairs(*_nearest(plan)[1].T[1:3])), strict=True):
        waits[later].append(earlier)
    return [tuple(each) for each in waits]


def waits_of(plan: Plan) -> Waits:
    """What orders the plan: its dependencies, and perhaps pairs that follow from them; found out once."""
    if "waits" not in plan.derived:
        plan.derived["waits"] = _pairs(*_nearest(plan)[1].T[1:3])
    return plan.derived["waits"]


def take_along(old: Plan, new: Plan, place: np.ndarray) -> Plan:
    """The new plan, with what is already known of who waits for whom in the old one.

    place: where the work of each old operation stands in the new plan.  Joined operations must touch what
    their parts touch, no more and no less: then two of them meet where two of their parts do.
    """
    if "waits" in old.derived:
        earlier, later = (place[each] for each in old.derived["waits"])
        apart = earlier != later
        new.derived["waits"] = _pairs(earlier[apart], later[apart])
    return new


def check_order(plan: Plan, order: Sequence[int]) -> None:
    """Raises ValueError, naming the first hazard, if running the plan's operations in `order` breaks one."""
    if sorted(order) != list(range(len(plan.operations))):
        raise ValueError(f"an order names each of the {len(plan.operations)} operations once")
    if broken := first_broken(plan, places(order)):
        raise ValueError(describe(plan, broken))


def places(order: Sequence[int]) -> np.ndarray:
    """The place of each operation in an order of them all."""
    place = np.empty(len(order), int)
    place[np.array(order, int)] = np.arange(len(order))
    return place


def first_broken(plan: Plan, place: np.ndarray) -> Hazard | None:
    """The first hazard that is open if each operation runs at this place; equal places are one operation."""
    earlier, later = waits_of(plan)
    if not (place[earlier] > place[later]).any():
        return None
    return next(each for each in hazards(plan) if place[each.earlier] > place[each.later])


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


def _pairs(earlier: np.ndarray, later: np.ndarray) -> Waits:
    many = 1 + later.max(initial=0)
    pairs = np.sort(later * many + earlier, kind="stable")  # they are nearly in order
    later, earlier = np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], many)
    return Waits(earlier, later)


def _nearest(plan: Plan) -> tuple[list[Region], np.ndarray]:
    """The regions that are touched, and the hazards as rows of numbers; see nearest.py."""
    from rnnlab.schedule.nearest import nearest  # brings Numba, which a plan by itself does without

    count = len(plan.operations)
    flat = [region for each in plan.operations for some in (each.reads, each.writes) for region in some]
    ids = np.fromiter(map(id, flat), int, len(flat))  # many operations share a region; quicker than its hash
    _, chosen, touched = np.unique(ids, return_index=True, return_inverse=True)
    of_each = lambda name: map(attrgetter(name), plan.operations)
    reads, writes = (np.fromiter(map(len, of_each(name)), int, count) for name in ("reads", "writes"))
    adds = np.fromiter(of_each("accumulates"), int, count)
    first = np.concatenate([[0], np.cumsum(reads + writes)])
    written = np.repeat(np.tile([False, True], count), np.column_stack([reads, writes]).ravel())
    regions = [flat[k] for k in chosen]
    boxes, buckets, total = _buckets(regions, touched[written])
    spans = first, first[:-1] + reads, first[:-1] + reads + writes * adds
    return regions, nearest(boxes, buckets, (touched, *spans), total)


def _buckets(regions: Sequence[Region], written: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Boxes and buckets of regions, see nearest.py, and how many buckets there are; written: some regions.

    A bucket is as many rows as the smallest piece of the buffer that is touched; a buffer that nobody writes
    to has none.
    """
    number = {name: k for k, name in enumerate(dict.fromkeys(region.buffer for region in regions))}
    buffer = np.fromiter((number[region.buffer] for region in regions), int, len(regions))
    sides = chain.from_iterable((*rows, *columns) for _, rows, columns in regions)
    boxes = np.fromiter(sides, int, 4 * len(regions)).reshape(-1, 4)
    top, bottom = boxes[:, 0], boxes[:, 1]
    least, blocks = np.full(len(number), np.iinfo(int).max), np.zeros(len(number), int)
    np.minimum.at(least, buffer, bottom - top)
    rows = least[buffer]
    first = top // rows
    last = np.where(np.isin(buffer, buffer[written]), -(-bottom // rows), first)
    np.maximum.at(blocks, buffer, last)
    base = np.cumsum(blocks) - blocks
    at = base[buffer]
    return boxes, np.column_stack([at + first, at + last, rows, at]), blocks.sum()


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
