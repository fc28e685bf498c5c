"""Checks of lesson 10: a product from tiles, a sum in a block and in a warp, a tile without conflicts."""

from nbjudge.comparing.patterns import part_of_sum
from nbjudge.printable import quantity
from rnncourse.checks.answers import answers
from rnncourse.checks.kernels import Case, Share, compare_launches, normal
from rnncourse.checks.lesson_09_cuda_first_kernels import sectors

ANSWERS = answers("10_cuda_shared_memory")
TILE = 8
MOST_EXCHANGES = 16  # of a lane: three for each of five halvings, and one more
MOST_BARRIERS = 8  # a block: six halvings of 64 threads, one barrier before and one after


@ANSWERS.exercise(
    """
       M   K   N
       8  16   8
      16   8  24
       8   8   8
       5   9  11
    9:14  20  10
""",
    late=lambda n: (5, n | 1, 4),
)
def check_tiled_matmul_kernel(answer, submission, rng, M, K, N):
    a = normal(rng, M, K)
    b = normal(rng, K, N)
    grid = (-(-N // TILE), -(-M // TILE))
    case = Case(grid, (TILE, TILE), (a, b, normal(rng, M, N)))

    def explain(_, place, surplus):
        row, column = place
        return part_of_sum(surplus, a[row] * b[:, column])

    results = "a: row, column; b: row, column; c: row, column"
    compare_launches(answer, submission, case, results, limit_matmul, explain)


def limit_matmul(counts, case):
    """Each element of a and b once for each tile of c that needs it; two barriers a tile."""
    a, b, c = case.arguments
    rows, inner = a.shape
    columns = b.shape[1]
    tiles = lambda n: -(-n // TILE)
    loads = counts["global_loads"]
    needed = a.size * tiles(columns) + b.size * tiles(rows)
    if loads > needed:
        return f"{loads} loads from global memory where {needed} are enough with tiles of 8 by 8"
    barriers = counts["barriers"]
    blocks = case.grid[0] * case.grid[1]
    most = blocks * (2 * tiles(inner) + 1)
    if barriers > most:
        return f"{quantity(barriers, 'barrier')} where {most} are enough: two for each tile, and one more"
    moved = counts["global_store_sectors"]
    fewest = sectors(*c.shape)
    if moved > fewest:
        written = quantity(moved, "sector")
        return Share(f"It writes {written} where {fewest} do: thread (j, i) makes row i, column j")
    return None


@ANSWERS.exercise("""
        n  blocks  threads
        8       1        8
        2       1        2
       64       2       32
      100       4       32
      128       2       64
    33:60       1       64
""")
def check_block_sum_kernel(answer, submission, rng, n, blocks, threads):
    x = normal(rng, n)
    case = Case((blocks,), (threads,), (x, normal(rng, blocks)))
    terms = answer.number("scale", 1) * x

    def explain(_, place, surplus):
        start = place[0] * threads
        return part_of_sum(surplus, terms[start : start + threads])

    compare_launches(answer, submission, case, "x: element; out: block", limit_block_sum, explain)


def limit_block_sum(counts, case):
    """At most as many barriers as six halvings need, no atomics, and no thread that adds up everything.

    A warp's halving takes two requests that read and one that writes; shuffles take none.  Where neighbours
    are added first, threads that add stand in all warps until the end, and each warp has its own requests.
    Neighbours added by the first threads pass: they need no more requests, and bank conflicts, which they
    have, are the subject of the last exercise.  The statement says every number of the limit.
    """
    blocks = case.grid[0]
    threads = case.block[0]
    barriers = counts["barriers"]
    most_barriers = blocks * MOST_BARRIERS
    if barriers > most_barriers:
        enough = f"{most_barriers} are enough for blocks of up to 64 threads"
        return f"{quantity(barriers, 'barrier')} where {enough}"
    atomics = counts["atomics"]
    if atomics:
        return f"It uses {quantity(atomics, 'atomic')}: atomics take turns; halving adds many pairs at once"
    repeats = _repeats(counts, case)
    if repeats:
        return repeats
    halvings = range(1, threads.bit_length())
    adding_warps = sum(-(-(threads >> halving) // 32) for halving in halvings)
    warps = -(-threads // 32)
    requests = counts["shared_requests"]
    most_requests = blocks * (3 * adding_warps + 2 * warps + 6)
    if requests > most_requests:
        return (
            f"{requests} requests to shared memory where {most_requests} are enough: a halving takes 3 for "
            f"each warp that still adds, and of {threads} threads half add in the first one, a quarter in "
            "the next"
        )
    reads = counts["shared_loads_of_thread"]
    most_reads = 2 * threads.bit_length()
    if reads > most_reads:
        return Share(
            f"A thread reads {reads} numbers from shared memory where {most_reads} do: two a halving"
        )
    return None


@ANSWERS.exercise("""
          n  blocks  threads
         64       2       32
         32       1       32
         20       1       32
    290:310       5       64
         40       1       96
""")
def check_warp_sum_kernel(answer, submission, rng, n, blocks, threads):
    x = normal(rng, n)
    out = normal(rng, blocks * threads // 32)
    case = Case((blocks,), (threads,), (x, out))
    terms = answer.number("scale", 1) * x

    def explain(_, place, surplus):
        start = place[0] * 32
        part = part_of_sum(surplus, terms[start : start + 32])
        return f"{part} After shuffles down, lane 0 holds the sum."

    compare_launches(answer, submission, case, "x: element; out: warp", limit_warp_sum, explain)


def limit_warp_sum(counts, case):
    """Registers only, and no barrier."""
    barriers = counts["barriers"]
    if barriers:
        return f"It has {quantity(barriers, 'barrier')}; a warp's lanes exchange registers without one"
    if counts["shared_requests"]:
        return "It goes through shared memory; a shuffle takes a value straight from another lane's register"
    atomics = counts["atomics"]
    if atomics:
        return f"It uses {quantity(atomics, 'atomic')}; one store for each warp is enough"
    return _repeats(counts, case)


def _repeats(counts: dict, case: Case) -> str | None:
    """Numbers that are loaded twice, or more exchanges of lanes than halvings of a warp need."""
    loads = counts["global_loads"]
    elements = len(case.arguments[0])
    if loads > elements:
        return f"{loads} loads from global memory where {elements} are enough: each number once"
    exchanges = counts["exchanges"]
    most = case.grid[0] * case.block[0] * MOST_EXCHANGES
    if exchanges > most:
        return f"{exchanges} shuffles, votes and syncwarps of lanes where {most} are enough: five halvings"
    return None


@ANSWERS.exercise("""
     rows  columns
       64       32
       32       32
       24       40
    33:40       35
""")
def check_transpose_without_conflicts(answer, submission, rng, rows, columns):
    x = normal(rng, rows, columns)
    grid = (-(-columns // 32), -(-rows // 32))
    case = Case(grid, (32, 8), (x, normal(rng, columns, rows)))
    compare_launches(answer, submission, case, "x: row, column; y: row, column", limit_conflicts)


def limit_conflicts(counts, case):
    """No conflict, and both sides of global memory along rows."""
    conflicts = counts["bank_conflicts"]
    if conflicts:
        requests = quantity(counts["shared_requests"], "request")
        return f"{quantity(conflicts, 'bank conflict')} in {requests} to shared memory"
    rows, columns = case.arguments[0].shape
    needed = rows * columns // 8  # every sector once, where rows are whole sectors
    for verb, moved, row_length in (
        ("reads", counts["global_load_sectors"], columns),
        ("writes", counts["global_store_sectors"], rows),
    ):
        if row_length % 8 == 0 and moved > needed:
            return f"It {verb} {quantity(moved, 'sector')} of 32 bytes where {needed} do"
    return None
