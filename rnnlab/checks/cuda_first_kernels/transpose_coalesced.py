"""y ← xᵀ through a tile in shared memory, so that reads and writes of global memory both run along rows."""

import numpy as np

from rnnlab import cuda
from rnnlab.checks.kernels import Case, judge_kernel
from rnnlab.grading.exercise import Exercise, Mutant

TILE = 8


@cuda.jit
def transpose_coalesced(x, y):
    tile = cuda.shared.array((8, 8), np.float32)
    column, row = cuda.grid(2)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    if row < x.shape[0] and column < x.shape[1]:
        tile[i, j] = x[row, column]
    cuda.syncthreads()
    row = cuda.blockIdx.x * 8 + i
    column = cuda.blockIdx.y * 8 + j
    if row < y.shape[0] and column < y.shape[1]:
        y[row, column] = tile[j, i]


INSIDE_X, INSIDE_Y = (f"row < {a}.shape[0] and column < {a}.shape[1]" for a in "xy")
PLACES = "row = cuda.blockIdx.x * 8 + i\n    column = cuda.blockIdx.y * 8 + j"
MUTANTS = (
    Mutant("holds writes to the shape of x", INSIDE_Y, INSIDE_X),
    Mutant(
        "writes down the columns of y",
        "        y[row, column] = tile[j, i]",
        "        y[cuda.blockIdx.x * 8 + j, cuda.blockIdx.y * 8 + i] = tile[i, j]",
    ),
    Mutant("reads the tile before the block has filled it", "    cuda.syncthreads()\n", ""),
    Mutant(
        "turns the tile but not the places of the tiles",
        PLACES,
        PLACES.replace("x *", "_ *").replace("y *", "x *").replace("_ *", "y *"),
    ),
    Mutant("moves the tiles but does not turn them", "tile[j, i]", "tile[i, j]"),
    Mutant("lets threads beyond the end read", f"if {INSIDE_X}:", "if row >= 0:"),
    Mutant("lets threads beyond the end write", f"if {INSIDE_Y}:", "if row >= 0:"),
)


def sectors(rows, columns):
    """The fewest sectors of 32 bytes for a matrix [rows,columns] of float32 in tiles of 8 by 8."""
    total, starts = 0, range(0, columns, TILE)
    for row in range(rows):
        for start in starts:
            first = row * columns + start
            last = row * columns + min(start + TILE, columns) - 1
            total += last // 8 - first // 8 + 1
    return total


def limit(ran, case):
    """No more sectors than rows in tiles need."""
    rows, columns = case.arguments[0].shape
    for verb, moved, needed in (
        ("reads", ran.counts["global_load_sectors"], sectors(rows, columns)),
        ("writes", ran.counts["global_store_sectors"], sectors(columns, rows)),
    ):
        if moved > needed:
            return (
                f"It {verb} {moved} sectors of 32 bytes where {needed} do: neighbouring threads leave a row"
            )
    return None


def check(submission, rng):
    drawn = int(rng.integers(17, 24))
    for rows, columns in ((8, 8), (16, 16), (8, 16), (16, 8), (9, 13), (drawn, 10)):
        x = rng.normal(size=(rows, columns)).astype("float32")
        grid = (-(-columns // TILE), -(-rows // TILE))
        case = Case(
            grid, (TILE, TILE), (x, np.zeros((columns, rows), "float32")), f"x of {rows} by {columns}"
        )
        axes = (("row", "column"),) * 2
        judge_kernel(submission, [case], transpose_coalesced, ("x", "y"), axes, MUTANTS, limit)


TRANSPOSE_COALESCED = Exercise(
    name="transpose_coalesced",
    points=4,
    difficulty=3,
    minutes=25,
    lines=10,
    hints=(
        "One of the two, reading x or writing y, runs down a column whatever you do without shared "
        "memory. What may run down a column of a tile in shared memory instead?",
        "Read a tile along its rows into shared memory, wait for the whole block, then let neighbouring "
        "threads write neighbouring elements of a row of y. Thread (j, i) writes another element than it "
        "has read.",
        "After the barrier the block at (blockIdx.x, blockIdx.y) writes the tile of y whose rows start at"
        " blockIdx.x · 8 and columns at blockIdx.y · 8: `y[row, column] = tile[j, i]` with row from i, "
        "column from j.",
    ),
    check=check,
    truth=transpose_coalesced,
    mutants=MUTANTS,
    also_right=(
        """from rnnlab import cuda
@cuda.jit
def transpose_coalesced(x, y):
    tile = cuda.shared.array((8, 9), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    r0, c0 = cuda.blockIdx.y * 8, cuda.blockIdx.x * 8
    if r0 + ty < x.shape[0] and c0 + tx < x.shape[1]:
        tile[ty, tx] = x[r0 + ty, c0 + tx]
    cuda.syncthreads()
    if c0 + ty < y.shape[0] and r0 + tx < y.shape[1]:
        y[c0 + ty, r0 + tx] = tile[tx, ty]
""",
        """from rnnlab import cuda
@cuda.jit
def transpose_coalesced(x, y):
    turned = cuda.shared.array((8, 8), np.float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    row, column = cuda.blockIdx.y * 8 + i, cuda.blockIdx.x * 8 + j
    if row < x.shape[0]:
        if column < x.shape[1]:
            turned[j, i] = x[row, column]
    cuda.syncthreads()
    row, column = cuda.blockIdx.x * 8 + i, cuda.blockIdx.y * 8 + j
    if row < x.shape[1] and column < x.shape[0]:
        y[row, column] = turned[i, j]
""",
    ),
    is_kernel=True,
)
