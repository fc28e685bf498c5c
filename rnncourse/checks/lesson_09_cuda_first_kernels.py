"""Checks of lesson 09: a thread for each element, any number of elements, whole sectors, and a race."""

import numpy as np

from nbjudge.printable import quantity
from rnncourse.checks.answers import answers
from rnncourse.checks.kernels import Case, Share, compare_launches, normal

ANSWERS = answers("09_cuda_first_kernels")
TILE = 8


@ANSWERS.exercise("""
        n  blocks  threads
        5       2        4
        1       1        1
       64       2       32
    65:96       3       32
      300      10       32
""")
def check_saxpy_kernel(answer, submission, rng, n, blocks, threads):
    a = np.float32(rng.uniform(1.5, 3))
    x = normal(rng, n)
    y = normal(rng, n)
    case = Case((blocks,), (threads,), (a, x, y))
    compare_launches(answer, submission, case, "x: element; y: element", limit_saxpy)


def limit_saxpy(counts, case):
    """A thread does one element: the 32 lanes of a warp write with one request."""
    (threads,) = case.block
    if threads % 32:
        return None
    warps = -(-case.arguments[1].size // 32)
    requests = counts["global_store_requests"]
    if requests > warps:
        return f"{requests} requests write y where {warps} are enough: each thread does one element"
    return None


@ANSWERS.exercise("""
          n  blocks  threads  largest
          7       2        2        0
          3       1        4        0
    130:200       2       32      100
         40       3       16        0
""")
def check_tanh_kernel(answer, submission, rng, n, blocks, threads, largest):
    """`largest`: size of the numbers; from 89 on exp overflows in float32."""
    x = normal(rng, n)
    if largest:
        places = rng.permutation(n)[:2]
        x[places] = -largest, largest
    y = np.zeros(n, "float32")
    case = Case((blocks,), (threads,), (x, y))
    compare_launches(answer, submission, case, "x: element; y: element", limit_tanh)


def limit_tanh(counts, case):
    """Loads and stores: one an element. Sectors: those of x, and one more a request, which may begin inside
    one: where threads go from the end to the start, neighbours stay on neighbours, too."""
    (n,) = case.arguments[0].shape
    elements = quantity(n, "element")
    loads = counts["global_loads"]
    if loads > n:
        return f"{loads} loads for {elements}: load every element once, and keep it in a variable"
    stores = counts["global_stores"]
    if stores > n:
        return f"{stores} stores for {elements}: every element should be written once"
    threads = case.grid[0] * case.block[0]
    if threads % 32:
        return None
    moved = counts["global_load_sectors"]
    warps = -(-n // 32)
    needed = 0
    for first in range(0, n, 32):
        elements_of_warp = min(32, n - first)
        needed += -(-elements_of_warp // 8)
    if moved > needed + warps:
        return f"The loads moved {quantity(moved, 'sector')} of 32 bytes where {needed} hold all of x"
    return None


@ANSWERS.exercise("""
     rows  columns
        8       16
       16        8
        8        8
       16       16
        9       13
    33:40       42
""")
def check_transpose_coalesced(answer, submission, rng, rows, columns):
    x = normal(rng, rows, columns)
    y = np.zeros((columns, rows), "float32")
    grid = (-(-columns // TILE), -(-rows // TILE))
    case = Case(grid, (TILE, TILE), (x, y))
    compare_launches(answer, submission, case, "x: row, column; y: row, column", limit_transpose)


def sectors(rows, columns):
    """The fewest sectors of 32 bytes for a matrix [rows,columns] of float32 in tiles of 8 by 8."""
    total = 0
    for row in range(rows):
        row_start = row * columns
        for start in range(0, columns, TILE):
            end = min(start + TILE, columns)
            first_sector = (row_start + start) // 8
            last_sector = (row_start + end - 1) // 8
            total += last_sector - first_sector + 1
    return total


def limit_transpose(counts, case):
    """No more sectors than rows in tiles need."""
    rows, columns = case.arguments[0].shape
    for verb, moved, needed in (
        ("reads", counts["global_load_sectors"], sectors(rows, columns)),
        ("writes", counts["global_store_sectors"], sectors(columns, rows)),
    ):
        if moved > needed:
            what = f"It {verb} {quantity(moved, 'sector')} of 32 bytes where {needed} do"
            return f"{what}: neighbouring threads leave a row"
    return None


def draw_launches(rng) -> list[tuple]:
    """Blocks, threads and steps: several blocks, a part of a warp, and no step."""
    part_of_warp = 33 - int(rng.integers(3, 9))
    return [(1, 5, 2), (1, 2, 1), (2, 32, 3), (1, part_of_warp, 4), (1, 4, 0)]


@ANSWERS.exercise(draw_launches)
def check_fix_the_race(answer, submission, rng, blocks, threads, steps):
    x = normal(rng, blocks * threads)
    case = Case((blocks,), (threads,), (x, steps))
    compare_launches(answer, submission, case, "x: element", limit_race)


def limit_race(counts, case):
    """Two barriers a step are enough, and one more for the start or the end; threads work side by side.

    A thread that reads all numbers of its block needs no exchange, and does the work of all.
    """
    blocks = case.grid[0]
    threads = blocks * case.block[0]
    steps = case.arguments[1]
    barriers = counts["barriers"]
    most = blocks * (2 * steps + 1)
    if barriers > most:
        return f"{quantity(barriers, 'barrier')} where {most} are enough: two a step and block, and one more"
    requests = counts["shared_requests"]
    needed = blocks * (4 * steps + 2)  # three loads and a store a step, a store before and a load after
    if requests > 2 * needed:
        return f"{requests} requests to shared memory where {needed} do: each thread computes its own number"
    loads = counts["loads_of_parameter"][0]
    if loads > 2 * threads:
        return Share(f"{loads} loads from x where {threads} are enough: a thread loads its own number, once")
    fewest = counts["idlest"]
    if fewest < 2 * steps + 2:
        return Share(f"A thread makes only {fewest} accesses: each computes its own number in every step")
    return None
