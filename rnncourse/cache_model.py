"""A cache in a few lines: which accesses of a loop nest miss, counted and not timed.

A cache holds lines of neighbouring bytes.  The line's number says in which set it must lie; of a full set,
the line that was used longest ago makes room.  Real caches also fetch ahead and share: their misses differ
in number, seldom in order.  The nest is that of a product, c [M,N] += a [M,K] b [K,N], in any order of its
loops, tiled or not.
"""

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

LOOPS = "ijk"  # i runs over M, j over N, k over K
Sizes = tuple[int, int, int]  # M, N, K


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
    return _run(addresses, cache)[0]


def held(addresses: np.ndarray, cache: Cache) -> np.ndarray:
    """The lines that are in the cache after the accesses, by number: byte address // cache.line."""
    return np.array([line for own in _run(addresses, cache)[1] for line in own], dtype=np.int64)


def visits(order: str, sizes: Sizes, tile: int | None = None) -> np.ndarray:
    """Indices (i, j, k) of all products in the order of time [M·N·K,3]; `order` is outermost first, "ikj".

    With a tile, the same order of loops runs over tiles of that width, and again inside each.
    """
    if sorted(order) != sorted(LOOPS):
        raise ValueError(f"order is {order!r}, expected i, j and k once each, such as 'ikj'")
    extents = dict(zip(LOOPS, sizes, strict=True))
    widths = {loop: min(tile or extent, extent) for loop, extent in extents.items()}
    tiles = [-(-extents[loop] // widths[loop]) for loop in order]
    steps = np.indices((*tiles, *(widths[loop] for loop in order))).reshape(6, -1)
    at = {loop: steps[d] * widths[loop] + steps[3 + d] for d, loop in enumerate(order)}
    inside = np.all([at[loop] < extents[loop] for loop in LOOPS], axis=0)  # the last tiles may be cut
    return np.stack([at[loop][inside] for loop in LOOPS], axis=1)


def addresses(places: np.ndarray, sizes: Sizes, itemsize: int = 4, line: int = 64) -> np.ndarray:
    """Byte addresses of a[i,k], b[k,j] and c[i,j] for each row of places [n,3], in this order [3·n].

    The three matrices lie row by row, one behind the other, each from the beginning of a line.
    """
    (M, N, K), (i, j, k) = sizes, places.T
    whole = lambda count: -(-count * itemsize // line) * line
    start_b = whole(M * K)
    start_c = start_b + whole(K * N)
    a, b, c = (i * K + k) * itemsize, start_b + (k * N + j) * itemsize, start_c + (i * N + j) * itemsize
    return np.stack([a, b, c], axis=1).ravel()


def product_misses(order: str, sizes: Sizes, tile: int | None, cache: Cache) -> int:
    """How many accesses of the product miss."""
    sequence = addresses(visits(order, sizes, tile), sizes, line=cache.line)
    return int(missed(sequence, cache).sum())


def _run(addresses: np.ndarray, cache: Cache) -> tuple[np.ndarray, list[OrderedDict]]:
    """(which accesses miss [n], the lines of each set, least recently used first)."""
    lines = (np.asarray(addresses) // cache.line).tolist()
    misses, sets = np.zeros(len(lines), bool), [OrderedDict() for _ in range(cache.sets)]
    for n, line in enumerate(lines):
        own = sets[line % cache.sets]
        if line in own:
            own.move_to_end(line)
            continue
        misses[n], own[line] = True, None
        if len(own) > cache.ways:
            own.popitem(last=False)
    return misses, sets
