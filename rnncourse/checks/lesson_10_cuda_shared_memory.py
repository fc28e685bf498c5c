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
    a, b = (normal(rng, *shape) for shape in ((M, K), (K, N)))
    grid = (-(-N // TILE), -(-M // TILE))
    case = Case(grid, (TILE, TILE), (a, b, normal(rng, M, N)))

    def explain(_, place, surplus):
        return part_of_sum(surplus, a[place[0]] * b[:, place[1]])

    results = "a: row, column; b: row, column; c: row, column"
    compare_launches(answer, submission, case, results, limit_matmul, explain)


def limit_matmul(counts, case):
    """Each element of a and b once for each tile of c that needs it; two barriers a tile."""
    a, b, _ = case.arguments
    tiles = lambda n: -(-n // TILE)
    needed = a.size * tiles(b.shape[1]) + b.size * tiles(a.shape[0])
    if (loads := counts["global_loads"]) > needed:
        return f"{loads} loads from global memory where {needed} are enough with tiles of 8 by 8"
    most = case.grid[0] * case.grid[1] * (2 * tiles(a.shape[1]) + 1)
    if (barriers := counts["barriers"]) > most:
        return f"{quantity(barriers, 'barrier')} where {most} are enough: two for each tile, and one more"
    if (moved := counts["global_store_sectors"]) > (most := sectors(*case.arguments[2].shape)):
        return Share(
            f"It writes {quantity(moved, 'sector')} where {most} do: thread (j, i) makes row i, column j"
        )
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
    own = answer.number("scale", 1) * x

    def explain(_, place, surplus):
        return part_of_sum(surplus, own[place[0] * threads :][:threads])

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
    if (barriers := counts["barriers"]) > blocks * MOST_BARRIERS:
        enough = f"{blocks * MOST_BARRIERS} are enough for blocks of up to 64 threads"
        return f"{quantity(barriers, 'barrier')} where {enough}"
    if counts["atomics"]:
        atomics = quantity(counts["atomics"], "atomic")
        return f"It uses {atomics}: atomics take turns; halving adds many pairs at once"
    if repeats := _repeats(counts, case):
        return repeats
    adding = [-(-(threads >> halving) // 32) for halving in range(1, threads.bit_length())]  # warps
    most = blocks * (3 * sum(adding) + 2 * -(-threads // 32) + 6)
    if (requests := counts["shared_requests"]) > most:
        return (
            f"{requests} requests to shared memory where {most} are enough: a halving takes 3 for each warp "
            f"that still adds, and of {threads} threads half add in the first one, a quarter in the next"
        )
    if (reads := counts["shared_loads_of_thread"]) > (most := 2 * threads.bit_length()):
        return Share(f"A thread reads {reads} numbers from shared memory where {most} do: two a halving")
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
    own = answer.number("scale", 1) * x

    def explain(_, place, surplus):
        return f"{part_of_sum(surplus, own[place[0] * 32 :][:32])} After shuffles down, lane 0 holds the sum."

    compare_launches(answer, submission, case, "x: element; out: warp", limit_warp_sum, explain)


def limit_warp_sum(counts, case):
    """Registers only, and no barrier."""
    if counts["barriers"]:
        return (
            f"It has {quantity(counts['barriers'], 'barrier')}; a warp's lanes exchange registers without one"
        )
    if counts["shared_requests"]:
        return "It goes through shared memory; a shuffle takes a value straight from another lane's register"
    if counts["atomics"]:
        return f"It uses {quantity(counts['atomics'], 'atomic')}; one store for each warp is enough"
    return _repeats(counts, case)


def _repeats(counts: dict, case: Case) -> str | None:
    """Numbers that are loaded twice, or more exchanges of lanes than halvings of a warp need."""
    if (loads := counts["global_loads"]) > len(case.arguments[0]):
        return f"{loads} loads from global memory where {len(case.arguments[0])} are enough: each number once"
    if (exchanges := counts["exchanges"]) > (most := case.grid[0] * case.block[0] * MOST_EXCHANGES):
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
    if conflicts := counts["bank_conflicts"]:
        requests = quantity(counts["shared_requests"], "request")
        return f"{quantity(conflicts, 'bank conflict')} in {requests} to shared memory"
    rows, columns = case.arguments[0].shape
    whole = lambda r, c: r * c // 8 if c % 8 == 0 else None  # every sector once, where rows are whole sectors
    for verb, moved, needed in (
        ("reads", counts["global_load_sectors"], whole(rows, columns)),
        ("writes", counts["global_store_sectors"], whole(columns, rows)),
    ):
        if needed is not None and moved > needed:
            return f"It {verb} {quantity(moved, 'sector')} of 32 bytes where {needed} do"
    return None
