"""The transpose through a tile of 32 by 32, whose columns must not lie in one bank."""

import numpy as np

from rnnlab import cuda
from rnnlab.checks.kernels import Case, judge_kernel
from rnnlab.grading.exercise import Exercise, Mutant


@cuda.jit
def transpose_without_conflicts(x, y):
    tile = cuda.shared.array((32, 33), np.float32)
    j, first = cuda.threadIdx.x, cuda.threadIdx.y
    across, down = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    for i in range(first, 32, cuda.blockDim.y):
        if down + i < x.shape[0] and across + j < x.shape[1]:
            tile[i, j] = x[down + i, across + j]
    cuda.syncthreads()
    for i in range(first, 32, cuda.blockDim.y):
        if across + i < y.shape[0] and down + j < y.shape[1]:
            y[across + i, down + j] = tile[j, i]


MUTANTS = (
    Mutant("lets a column of the tile lie in one bank", "(32, 33)", "(32, 32)"),
    Mutant("pads by two", "(32, 33)", "(32, 34)"),
    Mutant("reads the tile before the block has filled it", "    cuda.syncthreads()\n", ""),
    Mutant(
        "does each row of the tile but the first ones",
        "range(first, 32,",
        "range(first + cuda.blockDim.y, 32,",
    ),
    Mutant("moves the tile but does not turn it", "tile[j, i]", "tile[i, j]"),
    Mutant(
        "does not turn the places of the tiles",
        "if across + i < y.shape[0] and down + j < y.shape[1]:\n            y[across + i, down + j]",
        "if down + i < y.shape[0] and across + j < y.shape[1]:\n            y[down + i, across + j]",
    ),
    Mutant("writes beyond the end", "if across + i < y.shape[0] and down + j < y.shape[1]:", "if i >= 0:"),
)


def limit(ran, case):
    """No conflict, and both sides of global memory along rows."""
    if conflicts := ran.counts["bank_conflicts"]:
        return f"{conflicts} bank conflicts, of {ran.counts['shared_requests']} requests to shared memory"
    rows, columns = case.arguments[0].shape
    whole = lambda r, c: r * c // 8 if c % 8 == 0 else None  # every sector once, where rows are whole sectors
    for verb, moved, needed in (
        ("reads", ran.counts["global_load_sectors"], whole(rows, columns)),
        ("writes", ran.counts["global_store_sectors"], whole(columns, rows)),
    ):
        if needed is not None and moved > needed:
            return f"It {verb} {moved} sectors of 32 bytes where {needed} do"
    return None


def check(submission, rng):
    drawn = int(rng.integers(33, 40))
    for rows, columns in ((32, 32), (64, 32), (40, 24), (drawn, 35)):
        x = rng.normal(size=(rows, columns)).astype("float32")
        grid = (-(-columns // 32), -(-rows // 32))
        arguments = (x, np.zeros((columns, rows), "float32"))
        case = Case(grid, (32, 8), arguments, f"x of {rows} by {columns}, blocks of 32 by 8")
        axes = (("row", "column"),) * 2
        judge_kernel(submission, [case], transpose_without_conflicts, ("x", "y"), axes, MUTANTS, limit)


TRANSPOSE_WITHOUT_CONFLICTS = Exercise(
    name="transpose_without_conflicts",
    points=4,
    difficulty=3,
    minutes=20,
    lines=11,
    hints=(
        "A word's bank is its address in words, modulo 32. In a tile of 32 by 32 words, which banks do "
        "the 32 words of one column lie in?",
        "If a row of the tile were 33 words long, the words of a column would lie in 32 different banks. "
        "Nobody needs the last word of each row.",
        "`tile = cuda.shared.array((32, 33), np.float32)`; the block has 8 rows of threads, so each does "
        "rows i, i + 8, i + 16, i + 24 of the tile; the write takes tile[j, i].",
    ),
    check=check,
    truth=transpose_without_conflicts,
    mutants=MUTANTS,
    also_right=(
        """from rnnlab import cuda
@cuda.jit
def transpose_without_conflicts(x, y):
    tile = cuda.shared.array((32, 32), np.float32)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    for k in range(0, 32, 8):
        row = i + k
        if top + row < x.shape[0] and left + j < x.shape[1]:
            tile[row, (j + row) % 32] = x[top + row, left + j]
    cuda.syncthreads()
    for k in range(0, 32, 8):
        row = i + k
        if left + row < y.shape[0] and top + j < y.shape[1]:
            y[left + row, top + j] = tile[j, (row + j) % 32]
""",
        """from rnnlab import cuda
@cuda.jit
def transpose_without_conflicts(x, y):
    tile = cuda.shared.array(32 * 33, np.float32)
    j = cuda.threadIdx.x
    for i in range(cuda.threadIdx.y, 32, cuda.blockDim.y):
        row, column = cuda.blockIdx.y * 32 + i, cuda.blockIdx.x * 32 + j
        if row < x.shape[0] and column < x.shape[1]:
            tile[i * 33 + j] = x[row, column]
    cuda.syncthreads()
    for i in range(cuda.threadIdx.y, 32, cuda.blockDim.y):
        row, column = cuda.blockIdx.x * 32 + i, cuda.blockIdx.y * 32 + j
        if row < y.shape[0] and column < y.shape[1]:
            y[row, column] = tile[j * 33 + i]
""",
    ),
    seconds=60.0,
    is_kernel=True,
)
