"""A product in tiles: the judge writes down every access to its matrices, and a cache model counts misses.

Whatever else an answer does, a right one reads a[i,k] and b[k,j] near each other for each product, and writes
the sum soon after; what it kept elsewhere meanwhile no cache model would see.
"""

from collections.abc import Callable, Sequence

import numpy as np

from rnnlab.checks.edits import edited, loaded
from rnnlab.checks.edits import run as run_edited
from rnnlab.checks.numba_cpu.machines import OUTSIDE, Memory
from rnnlab.checks.numba_cpu.shells import BATCH, INPUT, Matrix, Number, Sums, Tape, Watched, shells
from rnnlab.grading.differences import WRONG_TYPE, describe
from rnnlab.grading.exercise import Code, Exercise, Mutant, Wrong
from rnnlab.grading.in_process import InProcess
from rnnlab.grading.judging import expect
from rnnlab.machine.cache_model import Cache, missed

SMALL = (((2, 2, 2), 2), ((3, 5, 4), 2), ((5, 4, 7), 3))  # (M, N, K), tile
LARGE = (26, 42, 38), 8
CACHE = Cache(ways=64, line=32)  # 64 lines of 8 float32: three tiles of 8 by 8 fit, all of b does not
MARGIN = 1.5  # times the misses of the course's own tiles
NEAR = 512  # accesses between the two factors of a product: registers hold no more
SOON = 1536  # accesses until the sum is written: a tile of sums may wait, all of c may not
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
MATRICES = """
tape = Tape({batch}, perform, compare, value)
a = Matrix("a", 0, {a}, tape, make)
b = Matrix("b", 1, {b}, tape, make)
c = Matrix("c", 2, {c}, tape, make)
"""


def check(submission, rng):
    for sizes, tile in (*SMALL, LARGE):
        arrays = _draw(rng, *sizes)
        memory = Memory(dict(zip("abc", arrays, strict=True)))
        product = _walked(submission, memory, arrays, tile)
        expect(
            product,
            arrays[2] + arrays[0] @ arrays[1],
            axes=("row", "column"),
            what="the product",
            case="M={}, N={}, K={}, tile={}".format(*sizes, tile),
            wrong={each.name: lambda each=each, given=(*arrays, tile): _run(each, given) for each in VALUES},
        )
    _judge_waiting(memory, sizes)
    _judge_misses(_misses(memory), arrays, tile)


def _draw(rng: np.random.Generator, M: int, N: int, K: int) -> tuple[np.ndarray, ...]:
    """a [M,K], b [K,N], c [M,N], drawn where their texts stay short."""
    return tuple(rng.integers(-99, 100, shape) / 32 for shape in ((M, K), (K, N), (M, N)))


def _run(mutant: Mutant, arguments: tuple) -> object:
    return run_edited(edited(TRUTH, mutant), "blocked_matmul", arguments)


def _walked(submission: Callable, memory: Memory, arrays: Sequence[np.ndarray], tile: int) -> np.ndarray:
    """The product [M,N] that the submission wrote; the walk is in the memory."""
    shapes = dict(zip("abc", (array.shape for array in arrays), strict=True))
    text = MATRICES.format(batch=BATCH, **shapes)
    names = shells((Watched, Tape, Number, Matrix, Sums), text, memory.services)
    got = submission(names["a"], names["b"], names["c"], tile)
    if type(got) is tuple and len(got) == 1 and type(got[0]) is int and got[0] in memory.results:
        return memory.matrices[got[0]].reshape(shapes["c"])
    raise Wrong(
        f"It returns {describe(got)}; asked for is the copy of c, with the products added.",
        WRONG_TYPE,
        "Begin with out = c.copy(), and end with return out.",
    )


def _judge_waiting(memory: Memory, sizes: tuple[int, int, int]) -> None:
    """Refuse an answer whose numbers wait where no cache is counted."""
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
        return
    reads = [sum(matrix == n for matrix, _, writes in memory.elements if not writes) for n in (0, 1)]
    raise Wrong(
        f"For {M * N * K} products it reads a {reads[0]} times and b {reads[1]} times, and of "
        f"{int((~stored).sum())} products the factors are not read near each other, or the sum is not "
        f"written soon after: the numbers must wait somewhere else.",
        COPIES,
        "Read a[i, k] and b[k, j] where they are multiplied; what is kept aside needs a cache too.",
    )


def _judge_misses(misses: int, arrays: Sequence[np.ndarray], tile: int) -> None:
    own = _misses_of(TRUTH, arrays, tile)
    if misses <= MARGIN * own:
        return
    known = {each.name: _misses_of(edited(TRUTH, each), arrays, tile) for each in ORDERS}
    nearest = min(known, key=lambda name: abs(np.log(misses / known[name])))
    raise Wrong(
        f"The sums are right. In a cache of {CACHE.ways} lines of {CACHE.line // 4} numbers the loops miss "
        f"{misses} times; tiles of {tile} by {tile} by {tile} miss {own} times, {MARGIN * own:.0f} allowed.",
        nearest,
        "A tile of a, one of b and one of c must stay in the cache together until they are done with.",
    )


def _misses(memory: Memory) -> int:
    return int(missed(np.array(memory.addresses), CACHE).sum())


def _misses_of(source: str, arrays: Sequence[np.ndarray], tile: int) -> int:
    memory = Memory(dict(zip("abc", arrays, strict=True)))
    _walked(InProcess(loaded(Code(source, "blocked_matmul"))), memory, arrays, tile)
    return _misses(memory)


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
    seconds=60.0,  # sums in an array of the answer's own ask for one number after another
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
