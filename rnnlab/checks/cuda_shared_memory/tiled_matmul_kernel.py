"""c ← a b from tiles in shared memory: each element of a and b is loaded once a tile, not once a thread."""

import numpy as np

from rnnlab import cuda
from rnnlab.checks.kernels import Case, judge_kernel
from rnnlab.grading.exercise import Exercise, Mutant

TILE = 8


@cuda.jit
def tiled_matmul_kernel(a, b, c):
    tile_a = cuda.shared.array((8, 8), np.float32)
    tile_b = cuda.shared.array((8, 8), np.float32)
    column, row = cuda.grid(2)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, a.shape[1], 8):
        tile_a[i, j] = np.float32(0)
        tile_b[i, j] = np.float32(0)
        if row < a.shape[0] and start + j < a.shape[1]:
            tile_a[i, j] = a[row, start + j]
        if start + i < b.shape[0] and column < b.shape[1]:
            tile_b[i, j] = b[start + i, column]
        cuda.syncthreads()
        for k in range(8):
            total += tile_a[i, k] * tile_b[k, j]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


SUM = "total += tile_a[i, k] * tile_b[k, j]"
ZEROS = "        tile_a[i, j] = np.float32(0)\n        tile_b[i, j] = np.float32(0)\n"
MUTANTS = (
    Mutant(
        "loads from global memory in the inner loop",
        f"            {SUM}",
        "            if row < a.shape[0] and column < b.shape[1] and start + k < a.shape[1]:\n"
        "                total += a[row, start + k] * b[start + k, column]",
    ),
    Mutant(
        "uses a tile before the block has filled it",
        "        cuda.syncthreads()\n        for k",
        "        for k",
    ),
    Mutant("fills the next tile while others still use this one", f"{SUM}\n        cuda.syncthreads()", SUM),
    Mutant("takes tile_b transposed", "tile_b[k, j]", "tile_b[j, k]"),
    Mutant("takes tile_a transposed", "tile_a[i, k]", "tile_a[k, i]"),
    Mutant("keeps only the last tile's sum", SUM, f"total = total * np.float32(k > 0) + {SUM[9:]}"),
    Mutant("leaves old numbers in a tile that is not full", ZEROS, ""),
    Mutant("loads beyond the end of a", "row < a.shape[0] and start + j < a.shape[1]", "row >= 0"),
    Mutant("loads the same tile of a every time", "a[row, start + j]", "a[row, j]"),
)


def limit(ran, case):
    """Every element of a and b once for each tile of c beside or below it."""
    a, b, _ = case.arguments
    tiles = lambda n: -(-n // TILE)
    needed = a.size * tiles(b.shape[1]) + b.size * tiles(a.shape[0])
    if (loads := ran.counts["global_loads"]) > needed:
        return f"{loads} loads from global memory where {needed} are enough with tiles of 8 by 8"
    return None


def check(submission, rng):
    drawn = int(rng.integers(9, 14))
    for M, K, N in ((8, 8, 8), (8, 16, 8), (16, 8, 24), (5, 9, 11), (drawn, 20, 10)):
        a, b = (rng.normal(size=size).astype("float32") for size in ((M, K), (K, N)))
        grid = (-(-N // TILE), -(-M // TILE))
        arguments = (a, b, np.zeros((M, N), "float32"))
        case = Case(grid, (TILE, TILE), arguments, f"a {M} by {K}, b {K} by {N}")
        axes = (("row", "column"),) * 3
        judge_kernel(submission, [case], tiled_matmul_kernel, ("a", "b", "c"), axes, MUTANTS, limit)


TILED_MATMUL_KERNEL = Exercise(
    name="tiled_matmul_kernel",
    points=5,
    difficulty=4,
    minutes=30,
    lines=18,
    hints=(
        "The 64 threads of a block make one tile of c. Which rows of a and which columns of b do they all"
        " need? How often does the naive kernel load each of those numbers?",
        "Walk along the inner size in steps of 8. In each step every thread loads one number of a and one"
        " of b into shared tiles, all wait, every thread adds 8 products from the tiles, all wait again.",
        "`for start in range(0, a.shape[1], 8):` tile_a[i, j] is a[row, start + j] or 0 beyond the end, "
        "tile_b[i, j] is b[start + i, column] or 0; `cuda.syncthreads()`; add tile_a[i, k] · tile_b[k, "
        "j]; `cuda.syncthreads()`.",
    ),
    check=check,
    truth=tiled_matmul_kernel,
    mutants=MUTANTS,
    also_right=(
        """from rnnlab import cuda
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    tiles = cuda.shared.array((2, 8, 8), np.float32)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for t in range((a.shape[1] + 7) // 8):
        inner = 8 * t
        left, right = np.float32(0), np.float32(0)
        if row < a.shape[0] and inner + j < a.shape[1]:
            left = a[row, inner + j]
        if inner + i < b.shape[0] and column < b.shape[1]:
            right = b[inner + i, column]
        tiles[0, i, j] = left
        tiles[1, i, j] = right
        cuda.syncthreads()
        for k in range(8):
            total += tiles[0, i, k] * tiles[1, k, j]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
""",
        """from rnnlab import cuda
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    part_a = cuda.shared.array((8, 8), np.float32)
    part_b = cuda.shared.array((8, 8), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    start = 0
    while start < a.shape[1]:
        width = min(8, a.shape[1] - start)
        if row < a.shape[0] and x < width:
            part_a[y, x] = a[row, start + x]
        if y < width and column < b.shape[1]:
            part_b[y, x] = b[start + y, column]
        cuda.syncthreads()
        if row < c.shape[0] and column < c.shape[1]:
            for k in range(width):
                total += part_a[y, k] * part_b[k, x]
        cuda.syncthreads()
        start += 8
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
""",
    ),
    seconds=60.0,
    is_kernel=True,
)
