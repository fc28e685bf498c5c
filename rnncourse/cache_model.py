"""A cache in a few lines: which accesses miss, counted and not timed.

A cache holds lines of neighbouring bytes.  The line's number says in which set it must lie; of a full set,
the line that was used longest ago makes room.  Real caches also fetch ahead and share: their misses differ
in number, seldom in order.
"""

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Cache:
    """`sets` sets of `ways` lines each, a line of `line` bytes; one set: a line may lie anywhere."""

    ways: int
    sets: int = 1
    line: int = 64  # bytes

    @property
    def bytes(self) -> int:
        return self.ways * self.sets * self.line


def missed(addresses: np.ndarray, cache: Cache) -> np.ndarray:
    """Which accesses miss [n], bool, for byte addresses [n] in the order of time; the cache begins empty."""
    lines = (np.asarray(addresses) // cache.line).tolist()
    misses = np.zeros(len(lines), bool)
    sets = [OrderedDict() for _ in range(cache.sets)]  # the lines of each, least recently used first
    for n, line in enumerate(lines):
        own = sets[line % cache.sets]
        if line in own:
            own.move_to_end(line)
            continue
        misses[n] = True
        own[line] = None
        if len(own) > cache.ways:
            own.popitem(last=False)
    return misses
