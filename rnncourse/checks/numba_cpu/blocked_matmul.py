"""A product in tiles: the judge writes down every access to its matrices, and a cache model counts misses.

Whatever else an answer does, a right one reads a[i,k] and b[k,j] near each other for each product, and writes
the sum soon after; what it kept elsewhere meanwhile no cache model would see.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from nbjudge.comparing.differences import WRONG_TYPE, describe
from nbjudge.comparing.judging import expect, refuse
from nbjudge.comparing.patterns import first_place, part_of_sum
from nbjudge.exercise import Wrong
from rnncourse.cache_model import Cache, missed
from rnncourse.checks.answers import answers
from rnncourse.checks.numba_cpu.machines import Memory
from rnncourse.checks.numba_cpu.shells import BATCH, Matrix, Number, Sums, Tape, Watched, shells

CASES = (
    (3, 5, 4, 2, False),
    (2, 2, 2, 2, False),
    (5, 4, 7, 3, False),
    (10, 70, 38, 8, True),  # 8 rows of b are 72 lines: a cut of k alone does not do
)  # M, N, K, tile
CACHE = Cache(ways=64, line=32)  # 64 lines of 8 float32: three tiles of 8 by 8 fit, all of b does not
MARGIN = 1.5  # times the misses of the course's own tiles
NEAR = 512  # accesses between the two factors of a product: registers hold no more
SOON = 1536  # accesses until the sum is written: a tile of sums may wait, all of c may not
MATRICES = """
tape = Tape({batch}, perform, compare, value)
a = Matrix("a", 0, {a}, tape, make)
b = Matrix("b", 1, {b}, tape, make)
c = Matrix("c", 2, {c}, tape, make)
"""


def check(submission, rng, M, N, K, tile, is_large):
    arrays = _draw(rng, M, N, K)
    memory = Memory(dict(zip("abc", arrays, strict=True)))
    product = _product_of(submission, memory, arrays, tile)
    case = f"M={M}, N={N}, K={K}, tile={tile}"
    axes = ("row", "column")
    a, b, c = arrays
    want = c + a @ b
    advice = lambda: _terms_at(product, want, *arrays)
    right = expect(product, want, axes=axes, what="the product", case=case, advice=advice)
    if right and is_large:
        misses = _misses(memory)
        refuse(_waiting(memory, (M, N, K)) or _excess(misses, arrays, tile), case, round(np.log(misses), 1))


def _draw(rng: np.random.Generator, M: int, N: int, K: int) -> tuple[np.ndarray, ...]:
    """a [M,K], b [K,N], c [M,N], drawn where their texts stay short."""
    return tuple(rng.integers(-99, 100, shape) / 32 for shape in ((M, K), (K, N), (M, N)))


def _product_of(submission: Callable, memory: Memory, arrays: Sequence[np.ndarray], tile: int) -> np.ndarray:
    """The product [M,N] that the submission wrote; the memory holds its accesses."""
    shapes = dict(zip("abc", (array.shape for array in arrays), strict=True))
    text = MATRICES.format(batch=BATCH, **shapes)
    names = shells((Watched, Tape, Number, Matrix, Sums), text, memory.services)
    got = submission(names["a"], names["b"], names["c"], tile)
    if type(got) is tuple and len(got) == 1 and type(got[0]) is int and got[0] in memory.results:
        return memory.matrices[got[0]].reshape(shapes["c"])
    raise Wrong(
        f"It returns {describe(got)}; expected is the copy of c, with the products added.",
        WRONG_TYPE,
        "Begin with out = c.copy(), and end with return out.",
    )


def _waiting(memory: Memory, sizes: tuple[int, int, int]) -> Wrong | None:
    """Numbers that wait where no cache is counted."""
    M, N, K = sizes
    never = -(NEAR + SOON) * 2
    read_a, read_b = np.full((M, K), never), np.full((K, N), never)
    multiplied, stored = np.full((M, N, K), never), np.zeros((M, N, K), bool)
    for now, (matrix, index, writes) in enumerate(memory.elements):
        if writes:
            i, j = divmod(index, N)
            stored[i, j] |= now - multiplied[i, j] <= SOON
        elif matrix == 0:
            i, k = divmod(index, K)
            read_a[i, k] = now
            multiplied[i, now - read_b[k] <= NEAR, k] = now
        elif matrix == 1:
            k, j = divmod(index, N)
            read_b[k, j] = now
            multiplied[now - read_a[:, k] <= NEAR, j, k] = now
    if stored.all():
        return None
    reads = [sum(matrix == n for matrix, _, writes in memory.elements if not writes) for n in (0, 1)]
    return Wrong(
        f"For {M * N * K} products it reads a {reads[0]} times and b {reads[1]} times, and of "
        f"{int((~stored).sum())} products the factors are not read near each other, or the sum is not "
        f"written soon after: the numbers must wait somewhere else.",
        None,
        "Read a[i, k] and b[k, j] where they are multiplied; what is kept aside needs a cache too.",
    )


def _terms_at(got: np.ndarray, want: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> str | None:
    """Which of its products the first wrong sum lacks."""
    if (place := first_place(got, want)) is None:
        return None
    i, j = place
    if abs(got[place] - c[place]) < 1e-9 * (1 + abs(c[place])):
        return (
            f"out[{i}, {j}] still holds c[{i}, {j}]: no product was added. Do your loops reach the places "
            "behind the last whole tile?"
        )
    return part_of_sum(float(got[place] - want[place]), a[i] * b[:, j])


def _excess(misses: int, arrays: Sequence[np.ndarray], tile: int) -> Wrong | None:
    """More misses than the course's own tiles have, by more than the margin."""
    own = answers("numba_cpu")["blocked_matmul"].function
    fewest = _fewest_misses(own, tuple(array.shape for array in arrays), tile)
    if misses <= MARGIN * fewest:
        return None
    return Wrong(
        f"The sums are right. In a cache of {CACHE.ways} lines of {CACHE.line // 4} numbers the loops miss "
        f"{misses} times; tiles of {tile} by {tile} by {tile} miss {fewest} times, "
        f"{MARGIN * fewest:.0f} allowed.",
        None,
        "A tile of a, one of b and one of c must stay in the cache together until they are done with.",
    )


class _Traced:
    """A matrix of zeros that only writes down every access; its copy lies after all others."""

    def __init__(self, memory: Memory, matrix: int, shape: tuple[int, int]):
        self.memory, self.matrix, self.shape = memory, matrix, shape

    def copy(self) -> "_Traced":
        return _Traced(self.memory, self.memory.make("c", "copy"), self.shape)

    def __getitem__(self, place: tuple[int, int]) -> float:
        self.memory.elements.append((self.matrix, place[0] * self.shape[1] + place[1], False))
        return 0.0

    def __setitem__(self, place: tuple[int, int], value: float) -> None:
        self.memory.elements.append((self.matrix, place[0] * self.shape[1] + place[1], True))


@cache
def _fewest_misses(own: Callable, shapes: tuple[tuple[int, int], ...], tile: int) -> int:
    """Misses of the course's own loops, which read and write the same places whatever the numbers are."""
    memory = Memory({name: np.zeros(shape) for name, shape in zip("abc", shapes, strict=True)})
    own(*(_Traced(memory, number, shape) for number, shape in enumerate(shapes)), tile)
    return _misses(memory)


def _misses(memory: Memory) -> int:
    return int(missed(memory.addresses(), CACHE).sum())
