"""y ← tanh(x) for any number of elements and any grid: each thread strides through the array."""

import math

import numpy as np

from rnnlab import cuda
from rnnlab.checks.kernels import Case, judge_kernel
from rnnlab.grading.exercise import Exercise, Mutant


@cuda.jit
def tanh_kernel(x, y):
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, x.size, stride):
        y[i] = math.tanh(x[i])


SHARE = "((x.size + stride - 1) // stride)"
MUTANTS = (
    Mutant(
        "gives every thread one element only",
        "range(start, x.size, stride)",
        "range(start, min(start + 1, x.size))",
    ),
    Mutant("strides by a block instead of the grid", "cuda.gridsize(1)", "cuda.blockDim.x"),
    Mutant("strides by the number of blocks", "cuda.gridsize(1)", "cuda.gridDim.x"),
    Mutant(
        "starts every block at its own first thread's place in the block", "cuda.grid(1)", "cuda.threadIdx.x"
    ),
    Mutant("runs beyond the end", "x.size, stride", "x.size + 1, stride"),
    Mutant("lets every thread do everything", "range(start, x.size, stride)", "range(x.size)"),
    Mutant(
        "gives each thread neighbouring elements",
        "range(start, x.size, stride)",
        f"range(start * {SHARE}, min((start + 1) * {SHARE}, x.size))",
    ),
    Mutant("takes the hyperbolic sine", "math.tanh", "math.sinh"),
)


def limit(ran, case):
    """Stores: one an element. Sectors: neighbouring threads on neighbouring elements."""
    (n,) = case.arguments[0].shape
    if (stores := ran.counts["global_stores"]) > n:
        return f"{stores} stores for {n} elements: every element should be written once"
    moved, threads = ran.counts["global_load_sectors"], case.grid[0] * case.block[0]
    needed = sum(-(-min(32, n - first) // 8) for first in range(0, n, 32)) if threads % 32 == 0 else moved
    if moved > needed:
        return f"The loads moved {moved} sectors of 32 bytes where {needed} hold all of x"
    return None


def check(submission, rng):
    drawn = int(rng.integers(130, 200))
    for n, blocks, threads in ((3, 1, 4), (7, 2, 2), (drawn, 2, 32), (40, 3, 16)):
        x = rng.normal(size=n).astype("float32")
        y = np.zeros(n, "float32")
        case = Case((blocks,), (threads,), (x, y), f"n={n}, {blocks} blocks of {threads} threads")
        judge_kernel(submission, [case], tanh_kernel, ("x", "y"), (("element",),) * 2, MUTANTS, limit)


TANH_KERNEL = Exercise(
    name="tanh_kernel",
    points=3,
    difficulty=2,
    minutes=10,
    lines=4,
    hints=(
        "The grid may have fewer threads than x has elements. Which elements are left over once each "
        "thread has done one, and who should do them?",
        "A thread that has done element i goes on with i + (number of threads in the grid): so nobody "
        "does what another one does, and neighbouring threads stay on neighbouring elements.",
        "`for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):` with one line inside it; math.tanh "
        "works in a kernel.",
    ),
    check=check,
    truth=tanh_kernel,
    mutants=MUTANTS,
    also_right=(
        """import math
from rnnlab import cuda
@cuda.jit
def tanh_kernel(x, y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < x.size:
        y[i] = math.tanh(x[i])
        i += cuda.gridDim.x * cuda.blockDim.x
""",
        """import math
from rnnlab import cuda
@cuda.jit
def tanh_kernel(x, y):
    threads = cuda.gridsize(1)
    for k in range((x.size + threads - 1) // threads):
        i = cuda.grid(1) + k * threads
        if i < x.size:
            y[i] = math.tanh(x[i])
""",
    ),
    is_kernel=True,
)
