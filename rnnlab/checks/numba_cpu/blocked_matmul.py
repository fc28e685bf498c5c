"""A product in tiles: the matrices given to it write down every access, and a cache model counts misses."""

from collections.abc import Iterable

import numpy as np

from rnnlab.cache_model import Cache, missed
from rnnlab.checks.edits import edited, loaded
from rnnlab.checks.edits import run as run_edited
from rnnlab.checks.numba_cpu import watched
from rnnlab.checks.numba_cpu.watched import INPUT, OUTSIDE, Accesses, Watched
from rnnlab.checks.numba_cpu.watched_matrix import Matrix, Sums
from rnnlab.grading.differences import WRONG_TYPE, describe
from rnnlab.grading.exercise import Code, Exercise, Mutant, Wrong
from rnnlab.grading.judging import expect

SMALL = (((2, 2, 2), 2), ((3, 5, 4), 2), ((5, 4, 7), 3))  # (M, N, K), tile
LARGE = (26, 42, 38), 8
CACHE = Cache(ways=64, line=32)  # 64 lines of 8 float32: three tiles of 8 by 8 fit, all of b does not
MARGIN = 1.5  # times the misses of the course's own tiles
COPIES = "keeps copies of its own"
# Text, since six loops in one another are what this exercise is about
TRUTH = """def blocked_matmul(a, b, c, tile):
    (M, K), N = a.shape, b.shape[1]
    out = c.copy()
    for i0 in range(0, M, tile):
        for j0 in range(0, N, tile):
            for k0 in range(0, K, tile):
                for i in range(i0, min(i0 + tile, M)):
                    for k in range(k0, min(k0 + tile, K)):
                        for j in range(j0, min(j0 + tile, N)):
                            out[i, j] += a[i, k] * b[k, j]
    return out
"""
blocked_matmul = loaded(Code(TRUTH, "blocked_matmul"))

PIECES = """for k0 in range(0, K, tile):
                for i in range(i0, min(i0 + tile, M)):
                    for k in range(k0, min(k0 + tile, K)):"""
ORDERS = (
    Mutant("makes one tile of everything", "    out = ", "    tile = max(M, N, K)\n    out = "),
    Mutant(
        "leaves k in one piece",
        PIECES,
        PIECES.replace("k0, min(k0 + tile, K)", "K").replace("0, K, tile", "1"),
    ),
)
VALUES = (
    Mutant("leaves out the columns behind the last whole tile", "0, N, tile)", "0, N - N % tile, tile)"),
    Mutant("leaves out the terms behind the last whole tile", "0, K, tile)", "0, K - K % tile, tile)"),
    Mutant("lets tiles overlap", "0, K, tile)", "0, K, tile - 1)"),
    Mutant("starts from zeros", "c.copy()", "np.zeros_like(c)"),
    Mutant("keeps only the last product of each sum", "out[i, j] += ", "out[i, j] = "),
)
ACCESSES = (
    Mutant(OUTSIDE, "min(k0 + tile, K)", "k0 + tile"),
    Mutant(INPUT, "out = c.copy()", "out = c"),
    Mutant(
        COPIES,
        "    out = ",
        "    a = {(i, k): a[i, k] for i in range(M) for k in range(K)}\n"
        "    b = {(k, j): b[k, j] for k in range(K) for j in range(N)}\n    out = ",
    ),
)
MADE = """
accesses = Accesses()
a = Matrix("a", left, accesses)
b = Matrix("b", right, accesses)
c = Matrix("c", start, accesses)
"""


def check(submission, rng):
    for sizes, tile in (*SMALL, LARGE):
        arrays = _draw(rng, *sizes)
        codes = watched.sent(
            (Accesses, Watched, Matrix, Sums),
            MADE,
            dict(zip(("left", "right", "start"), arrays, strict=True)),
        )
        got = _parts(submission(codes["a"], codes["b"], codes["c"], tile))
        expect(
            got[0],
            arrays[2] + arrays[0] @ arrays[1],
            axes=("row", "column"),
            what="the product",
            case="M={}, N={}, K={}, tile={}".format(*sizes, tile),
            wrong={each.name: lambda each=each, given=(*arrays, tile): _run(each, given) for each in VALUES},
        )
    _judge_reads(got[2], sizes)
    _judge_misses(int(missed(got[1], CACHE).sum()), arrays, tile)


def _draw(rng: np.random.Generator, M: int, N: int, K: int) -> tuple[np.ndarray, ...]:
    """a [M,K], b [K,N], c [M,N], drawn where their texts stay short."""
    return tuple(rng.integers(-99, 100, shape) / 32 for shape in ((M, K), (K, N), (M, N)))


def _run(mutant: Mutant, arguments: tuple) -> object:
    return run_edited(edited(TRUTH, mutant), "blocked_matmul", arguments)


def _parts(got: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(the product, addresses in the order of time, reads of a and b) of what was returned."""
    if not isinstance(got, tuple) or len(got) != 3:
        raise Wrong(
            f"It returns {describe(got)}; asked for is the copy of c, with the products added.",
            WRONG_TYPE,
            "Begin with out = c.copy(), and end with return out.",
        )
    return got


def _judge_reads(reads: np.ndarray, sizes: tuple[int, int, int]) -> None:
    """A product in registers may spare reads, four by four of them half; nobody has registers for all."""
    products = int(np.prod(sizes))
    if reads.sum() < products / 4:
        raise Wrong(
            f"For {products} products it reads a {reads[0]} times and b {reads[1]} times: the numbers must "
            f"wait somewhere else.",
            COPIES,
            "Read a[i, k] and b[k, j] where they are multiplied; what is kept aside needs a cache too.",
        )


def _judge_misses(misses: int, arrays: Iterable[np.ndarray], tile: int) -> None:
    own = _misses(TRUTH, arrays, tile)
    if misses <= MARGIN * own:
        return
    known = {each.name: _misses(edited(TRUTH, each), arrays, tile) for each in ORDERS}
    nearest = min(known, key=lambda name: abs(np.log(misses / known[name])))
    raise Wrong(
        f"The sums are right. In a cache of {CACHE.ways} lines of {CACHE.line // 4} numbers the loops miss "
        f"{misses} times; tiles of {tile} by {tile} by {tile} miss {own} times, {MARGIN * own:.0f} allowed.",
        nearest,
        "A tile of a, one of b and one of c must stay in the cache together until they are done with.",
    )


def _misses(source: str, arrays: Iterable[np.ndarray], tile: int) -> int:
    accesses = Accesses()
    matrices = [Matrix(name, array, accesses) for name, array in zip("abc", arrays, strict=True)]
    _, addresses, _ = run_edited(source, "blocked_matmul", (*matrices, tile))
    return int(missed(addresses, CACHE).sum())


BLOCKED_MATMUL = Exercise(
    name="blocked_matmul",
    points=3,
    difficulty=3,
    minutes=25,
    lines=10,
    hints=(
        "Begin with three loops that give the right sums. Then think of the loops over i, j and k as going "
        "in strides of `tile`, and of three more loops that walk through one tile of each.",
        "Outer loops: i0, j0 and k0 in range(0, size, tile). Inner loops: i from i0 to i0 + tile, but not "
        "past M, and so on. k must be cut as well: a tile of b has tile rows, not K.",
        "`for i in range(i0, min(i0 + tile, M)):`, the same for k with k0 and K, for j with j0 and N; inside "
        "`out[i, j] += a[i, k] * b[k, j]`, where out = c.copy(). Six loops, and return out.",
    ),
    check=check,
    truth=blocked_matmul,
    mutants=(*ORDERS, *VALUES, *ACCESSES),
    also_right=(
        """def blocked_matmul(a, b, c, tile):
    M, N = c.shape
    K = len(b)
    out = c.copy()
    for k0 in range(0, K, tile):
        for j0 in range(0, N, tile):
            for i0 in range(0, M, tile):
                for i in range(i0, min(M, i0 + tile)):
                    for j in range(j0, min(N, j0 + tile)):
                        total = 0.0
                        for k in range(k0, min(K, k0 + tile)):
                            total += a[i, k] * b[k, j]
                        out[i, j] += total
    return out
""",
        """def add_tile(a, b, out, rows, columns, terms):
    for i in rows:
        for k in terms:
            factor = a[i, k]
            for j in columns:
                out[i, j] = out[i, j] + factor * b[k, j]

def blocked_matmul(a, b, c, tile):
    out = np.copy(c)
    pieces = lambda size: [range(n, min(n + tile, size)) for n in range(0, size, tile)]
    for columns in pieces(b.shape[1]):
        for rows in pieces(a.shape[0]):
            for terms in pieces(b.shape[0]):
                add_tile(a, b, out, rows, columns, terms)
    return out
""",
    ),
)
