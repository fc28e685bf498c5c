"""y ← a·x + y, a thread for each element; the last block has threads to spare."""

import numpy as np

from rnnlab import cuda
from rnnlab.checks.kernels import Case, judge_kernel
from rnnlab.grading.exercise import Exercise, Mutant


@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


MUTANTS = (
    Mutant("lets threads beyond the end work", "if i < x.size:", "if i >= 0:"),
    Mutant("uses the place in the block as place in the array", "cuda.grid(1)", "cuda.threadIdx.x"),
    Mutant("uses the block's number as place in the array", "cuda.grid(1)", "cuda.blockIdx.x"),
    Mutant(
        "counts blocks by the grid's size",
        "cuda.grid(1)",
        "cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x",
    ),
    Mutant("forgets what was in y", " + y[i]", ""),
    Mutant("scales y instead of x", "a * x[i] + y[i]", "x[i] + a * y[i]"),
    Mutant("leaves out the last element", "i < x.size", "i < x.size - 1"),
)


def check(submission, rng):
    for n, blocks, threads in ((1, 1, 1), (5, 2, 4), (64, 2, 32), (int(rng.integers(65, 96)), 3, 32)):
        a = np.float32(rng.uniform(1.5, 3))
        x, y = (rng.normal(size=n).astype("float32") for _ in range(2))
        case = Case((blocks,), (threads,), (a, x, y), f"n={n}, {blocks} blocks of {threads} threads")
        judge_kernel(submission, [case], saxpy_kernel, ("x", "y"), (("element",),) * 2, MUTANTS)


SAXPY_KERNEL = Exercise(
    name="saxpy_kernel",
    points=2,
    difficulty=1,
    minutes=8,
    lines=3,
    hints=(
        "Look at scale_kernel in the lesson: which line finds the thread's own element, and which keeps "
        "threads without an element from doing anything?",
        "cuda.grid(1) is blockIdx.x · blockDim.x + threadIdx.x, a number that no other thread of the grid"
        " has. There are at least as many threads as elements, and often a few more.",
        "`i = cuda.grid(1)`, then `if i < x.size:`, and inside it one line that writes y[i].",
    ),
    check=check,
    truth=saxpy_kernel,
    mutants=MUTANTS,
    also_right=(
        """from rnnlab import cuda
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= y.shape[0]:
        return
    y[i] += a * x[i]
""",
        """from rnnlab import cuda
@cuda.jit
def saxpy_kernel(a, x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = y[i] + x[i] * a
""",
    ),
    is_kernel=True,
)
