"""Blocks that meet after every step: each puts up a flag of its own and looks at everybody's."""

import numpy as np

from rnnlab import cuda
from rnnlab.checks.kernels import Case, judge_kernel
from rnnlab.grading.exercise import Exercise, Mutant


@cuda.jit
def flag_barrier(history, flags, steps):
    i = cuda.grid(1)
    for t in range(steps):
        total = np.float32(0)
        for k in range(history.shape[1]):
            total += history[t, k]
        history[t + 1, i] = total / np.float32(history.shape[1]) + np.float32(1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()


IF_FIRST = "        if cuda.threadIdx.x == 0"
MEETS = "        cuda.threadfence()\n        cuda.syncthreads()\n"
EVERYBODY = "if cuda.threadIdx.x < cuda.gridDim.x:"
MUTANTS = (
    Mutant("has no fence before the flag", "            cuda.threadfence()\n", ""),
    Mutant(
        "puts the flag up before the block has written", f"        cuda.syncthreads()\n{IF_FIRST}", IF_FIRST
    ),
    Mutant("lets threads go on that have not seen the flags", MEETS, "        cuda.threadfence()\n"),
    Mutant("waits for its own block only", "(flags, cuda.threadIdx.x, 0)", "(flags, cuda.blockIdx.x, 0)"),
    Mutant("puts up the same flag in every step", "cuda.blockIdx.x, t + 1)", "cuda.blockIdx.x, 1)"),
    Mutant("waits in the first step only", "0) < t + 1", "0) < 1"),
    Mutant("looks at the first flag only", EVERYBODY, "if cuda.threadIdx.x == 0:"),
    Mutant("waits for a step that nobody takes", "0) < t + 1", "0) < t + 2"),
    Mutant("has no barrier between blocks", EVERYBODY, "if cuda.threadIdx.x < 0:"),
)


def check(submission, rng):
    for blocks, threads, steps in ((1, 2, 1), (2, 2, 2), (3, 4, 3), (4, 5, int(rng.integers(2, 5)))):
        history = np.full((steps + 1, blocks * threads), np.nan, "float32")
        history[0] = rng.normal(size=blocks * threads)
        flags = np.zeros(blocks, "int32")
        case = Case(
            (blocks,),
            (threads,),
            (history, flags, steps),
            f"{blocks} blocks of {threads} threads, {steps} steps",
        )
        axes = (("step", "element"), ("block",))
        judge_kernel(submission, [case], flag_barrier, ("history",), axes[:1], MUTANTS)


FLAG_BARRIER = Exercise(
    name="flag_barrier",
    points=3,
    difficulty=4,
    minutes=30,
    lines=12,
    hints=(
        "A block can wait for its own threads with cuda.syncthreads(), but not for other blocks. What can it "
        "write so that they see it has come, and what must be certain about its results by then?",
        "After a barrier one thread makes the block's writes visible with cuda.threadfence() and puts the "
        "step into flags[block]. Then each of the first gridDim threads looks at one flag until it is there, "
        "and a barrier lets the block go on.",
        "`cuda.syncthreads()`; thread 0: `cuda.threadfence()`, `cuda.atomic.exch(flags, cuda.blockIdx.x, t + "
        "1)`; threads below gridDim.x: `while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1: pass`; "
        "then `cuda.threadfence()` and `cuda.syncthreads()`.",
    ),
    check=check,
    truth=flag_barrier,
    mutants=MUTANTS,
    also_right=(
        """from rnnlab import cuda
@cuda.jit
def flag_barrier(history, flags, steps):
    n = history.shape[1]
    for t in range(steps):
        total = np.float32(0)
        for k in range(n):
            total += history[t, k]
        history[t + 1, cuda.grid(1)] = total / np.float32(n) + np.float32(1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
            for block in range(cuda.gridDim.x):
                while cuda.atomic.add(flags, block, 0) <= t:
                    pass
            cuda.threadfence()
        cuda.syncthreads()
""",
        """from rnnlab import cuda
@cuda.jit
def flag_barrier(history, flags, steps):
    grid = cuda.cg.this_grid()
    for t in range(steps):
        total = np.float32(0)
        for k in range(history.shape[1]):
            total += history[t, k]
        history[t + 1, cuda.grid(1)] = total / np.float32(history.shape[1]) + np.float32(1)
        grid.sync()
""",
    ),
    is_kernel=True,
)
