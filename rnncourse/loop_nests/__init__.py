"""One product, many orders of work: a schedule as plain data, compiled by Halide or by its Numba twin.

The product is a hidden layer's, out [M,N] = a [M,K] b [K,N]: M sequences, N units, K inputs.  What is
computed never changes; a schedule says only in which order:

    {"order": "mnk",                      the loops over tiles, outermost first
     "tile": {"m": 8, "n": 32, "k": 1},   what is done at a time: m and k unrolled, n in vectors
     "vectorise": 16,                     float32 in a vector; divides the tile's n
     "parallel": True}                    the outermost loop is shared between threads

Where k is the innermost loop, a tile's sums stay at hand until they are complete; elsewhere they are read and
written again for every tile.  Lesson 07 races such dictionaries.
"""

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from rnncourse.remedies import pip_install

LOOPS = "mnk"
SERIAL = {"order": "mnk", "tile": {}, "vectorise": 1, "parallel": False}
ENGINES = ("halide", "numba")
WIDEST = 64  # float32: four vectors of the widest processors
LARGEST_UNROLLED = 512  # multiply-adds of one tile, in vectors: more only costs compile time
Product = Callable[[np.ndarray, np.ndarray, np.ndarray], object]  # (a [M,K], b [K,N], out [M,N])


@dataclass(frozen=True)
class LoopNest:
    """A schedule that was read and found possible."""

    order: str = LOOPS
    tile: Mapping[str, int] = field(default_factory=dict)  # every one of LOOPS
    vectorise: int = 1
    parallel: bool = False

    @property
    def keeps_sums(self) -> bool:
        """Are a tile's sums complete before the next tile starts?"""
        return self.order[-1] == "k"


def read(schedule: Mapping[str, object], sizes: tuple[int, int, int]) -> LoopNest:
    """The LoopNest that plain data describes, for sizes (M, N, K).  Raises ValueError."""
    if not isinstance(schedule, Mapping):
        raise ValueError(f"a schedule is a dictionary, got {type(schedule).__name__}")
    if unknown := {*map(str, schedule)} - {*SERIAL}:
        raise ValueError(f"a schedule has {', '.join(SERIAL)}, not {', '.join(sorted(unknown))}")
    plain = SERIAL | dict(schedule)
    order = plain["order"]
    parallel = plain["parallel"]
    if not isinstance(order, str) or sorted(order) != sorted(LOOPS):
        raise ValueError(f"order is {order!r}, expected m, n and k once each, such as 'mnk'")
    if not isinstance(parallel, bool):
        raise ValueError(f"parallel is {parallel!r}, expected True or False")
    if parallel and order[0] == "k":
        raise ValueError("k is the outermost loop: parallel threads would add to the same sums at once")
    tile = _tile(plain["tile"], sizes)
    vectorise = _whole("vectorise", plain["vectorise"])
    nest = LoopNest(order, tile, vectorise, parallel)
    _check_tiling(nest, sizes)
    return nest


def engine() -> str:
    """Halide where it is installed, else Numba.  Raises ModuleNotFoundError if neither is."""
    for name in ENGINES:
        if importlib.util.find_spec(name):
            return name
    raise ModuleNotFoundError(f"schedules need Halide or Numba: {pip_install('rnnlab[fast]')}")


def build(schedule: Mapping[str, object], sizes: tuple[int, int, int], by: str | None = None) -> Product:
    """The product compiled under that schedule, for float32 arrays of sizes (M, N, K)."""
    by = by or engine()
    if by not in ENGINES:
        raise ValueError(f"a schedule is compiled by {' or '.join(ENGINES)}, not {by!r}")
    compiler = importlib.import_module(f"rnncourse.loop_nests.in_{by}")
    return compiler.build(read(schedule, sizes), sizes)


def _tile(tile: object, sizes: tuple[int, int, int]) -> dict[str, int]:
    if not isinstance(tile, Mapping) or not {*tile} <= {*LOOPS}:
        raise ValueError(f"tile is {tile!r}, expected sizes for some of m, n, k, such as {{'m': 4, 'n': 32}}")
    whole = {loop: _whole(f"the tile's {loop}", tile.get(loop, 1)) for loop in LOOPS}
    for (loop, size), extent in zip(whole.items(), sizes, strict=True):
        if size > extent:
            raise ValueError(f"the tile's {loop} is {size}, but there are only {extent}")
    return whole


def _check_tiling(nest: LoopNest, sizes: tuple[int, int, int]) -> None:
    """Raises ValueError for tiles that leave a rest which would be added twice, or that no compiler likes."""
    for loop, extent in zip(LOOPS, sizes, strict=True):
        size = nest.tile[loop]
        adds_rest_twice = loop == "k" or not nest.keeps_sums
        if adds_rest_twice and extent % size:
            raise ValueError(f"the tile's {loop} is {size}, which does not divide {loop.upper()} = {extent}")
    (m, n, k) = (nest.tile[loop] for loop in LOOPS)
    width = nest.vectorise
    if width & (width - 1) or width > WIDEST:
        raise ValueError(f"vectorise is {width}, expected a power of two up to {WIDEST}")
    if n % width:
        raise ValueError(f"the tile's n is {n}, which vectors of {width} do not fill: make it a multiple")
    instructions = m * k * (n // width)
    if instructions > LARGEST_UNROLLED:
        raise ValueError(
            f"a tile of {m} × {n} × {k} is {instructions} instructions, more than {LARGEST_UNROLLED}"
        )


def _whole(what: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{what} is {value!r}, expected a whole number of at least 1")
    return value
