"""The nearest hazards, in integers: operations in their order, and for every bucket of rows who touched it.

A compiled loop, for a view that makes plans of ten thousand launches while a switch moves.  What the numbers
mean, and why this finds all hazards that count, is said in hazards.py.
"""

import numpy as np
from numba import njit

READ_AFTER_WRITE, WRITE_AFTER_READ, WRITE_AFTER_WRITE = range(3)
WRITERS, READERS = range(2)
NOBODY = -1
FIRST, LAST = range(2)  # of the entries of a bucket


@njit(cache=True)
def nearest(boxes: np.ndarray, buckets: np.ndarray, touched: tuple, total: int) -> np.ndarray:
    """[hazards, 4]: kind, earlier operation, later operation, region that the earlier one touched.

    boxes[region]: first row, one past the last, first column, one past the last; buckets[region]: number of
    the first, one past the last, rows of each, number of its buffer's first one; touched: regions of all
    operations, and where each operation's reads begin, its writes begin, and what it touches ends (with its
    writes, if it adds to them); total: buckets.
    """
    regions, reads, writes, touches = touched
    ends = np.full((2, total, 2), NOBODY)
    room = (buckets[regions, 1] - buckets[regions, 0]).sum()
    entries = np.empty((room, 3), np.int64)  # region, operation, next entry of the bucket
    tables = boxes, buckets, entries
    seen, used, found = np.full(writes.size, NOBODY), 0, [0]
    for index in range(writes.size):
        for k in range(reads[index], touches[index]):
            _collect(found, READ_AFTER_WRITE, ends[WRITERS], tables, regions[k], index, seen)
        for k in range(writes[index], reads[index + 1]):
            _collect(found, WRITE_AFTER_READ, ends[READERS], tables, regions[k], index, seen)
            _collect(found, WRITE_AFTER_WRITE, ends[WRITERS], tables, regions[k], index, seen)
        for k in range(writes[index], reads[index + 1]):
            _forget(ends, tables, regions[k])
            used = _enter(ends[WRITERS], tables, regions[k], index, used)
        for k in range(reads[index], writes[index]):
            used = _enter(ends[READERS], tables, regions[k], index, used)
    return np.array(found)[1:].reshape(-1, 4)


@njit(cache=True)
def _collect(found, kind, ends, tables, region, index, seen):
    """Everybody in the region's buckets who touched some of it, once."""
    boxes, buckets, entries = tables
    for bucket in range(buckets[region, 0], buckets[region, 1]):
        at = ends[bucket, FIRST]
        while at != NOBODY:
            other, earlier, at = entries[at, 0], entries[at, 1], entries[at, 2]
            if seen[earlier] != index and _overlap(boxes, region, other):
                seen[earlier] = index
                found.extend((kind, earlier, index, other))


@njit(cache=True)
def _forget(ends, tables, region):
    """Drop whom the region covers: who comes later waits for its writer, who has waited for them."""
    _, buckets, _ = tables
    rows, base = buckets[region, 2], buckets[region, 3]
    for table in range(2):
        for bucket in range(buckets[region, 0], buckets[region, 1]):
            low = (bucket - base) * rows
            _filter(ends[table, bucket], tables, region, low, low + rows)


@njit(cache=True)
def _filter(ends, tables, region, low, high):
    """Of a bucket's entries, those that the region does not cover, in their order."""
    boxes, _, entries = tables
    at, kept = ends[FIRST], NOBODY
    ends[FIRST] = NOBODY
    while at != NOBODY:
        following = entries[at, 2]
        if not _covers(boxes, region, entries[at, 0], low, high):
            _chain(ends, entries, kept, at)
            kept = at
        at = following
    ends[LAST] = kept


@njit(cache=True)
def _enter(ends, tables, region, index, used):
    """A new entry in each of the region's buckets; how many there are then."""
    _, buckets, entries = tables
    for bucket in range(buckets[region, 0], buckets[region, 1]):
        entries[used, 0], entries[used, 1] = region, index
        _chain(ends[bucket], entries, ends[bucket, LAST], used)
        ends[bucket, LAST] = used
        used += 1
    return used


@njit(cache=True)
def _chain(ends, entries, before, at):
    """Let the entry follow the one before it, or be the first, and be the last."""
    entries[at, 2] = NOBODY
    if before == NOBODY:
        ends[FIRST] = at
    else:
        entries[before, 2] = at


@njit(cache=True)
def _overlap(boxes, a, b):
    down = boxes[a, 0] < boxes[b, 1] and boxes[b, 0] < boxes[a, 1]
    return down and boxes[a, 2] < boxes[b, 3] and boxes[b, 2] < boxes[a, 3]


@njit(cache=True)
def _covers(boxes, new, old, low, high):
    """Between rows low and high, does the new box hold all of the old one?"""
    across = boxes[new, 2] <= boxes[old, 2] and boxes[old, 3] <= boxes[new, 3]
    return across and boxes[new, 0] <= max(boxes[old, 0], low) and min(boxes[old, 1], high) <= boxes[new, 1]
