"""A moving average over neighbours through shared memory, given with a race in it."""

import numpy as np

from rnnlab import cuda
from rnnlab.checks.kernels import Case, judge_kernel
from rnnlab.grading.exercise import Exercise, Mutant


@cuda.jit
def fix_the_race(x, steps):
    part = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    n = cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    for _ in range(steps):
        cuda.syncthreads()
        mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
        cuda.syncthreads()
        part[i] = mean
    x[cuda.grid(1)] = part[i]


BEFORE = "        cuda.syncthreads()\n        mean"
AFTER = "        cuda.syncthreads()\n        part[i] = mean"
MEAN = " = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)\n"
MUTANTS = (
    Mutant("has no barrier at all", f"{BEFORE}{MEAN}{AFTER}", f"        mean{MEAN}        part[i] = mean"),
    Mutant("lets a thread read before its neighbours have written", BEFORE, "        mean"),
    Mutant("lets a thread write before its neighbours have read", AFTER, "        part[i] = mean"),
    Mutant(
        "waits once before the loop instead of in every step",
        f"    for _ in range(steps):\n{BEFORE}",
        "    cuda.syncthreads()\n    for _ in range(steps):\n        mean",
    ),
    Mutant(
        "waits in some threads only",
        AFTER,
        "        if i > 0:\n            cuda.syncthreads()\n        part[i] = mean",
    ),
    Mutant("forgets the thread's own number", " + part[i] +", " +"),
    Mutant("does not close the ring", "part[(i + n - 1) % n]", "part[max(i - 1, 0)]"),
)


def limit(ran, case):
    """Two barriers a step are enough, and one more for the start or the end."""
    blocks, steps = case.grid[0], case.arguments[1]
    most = blocks * (2 * steps + 1)
    if ran.counts["barriers"] > most:
        return (
            f"{ran.counts['barriers']} barriers where {most} are enough: two a step and block, and one more"
        )
    return None


def check(submission, rng):
    for blocks, threads, steps in ((1, 2, 1), (1, 5, 2), (2, 32, 3), (1, 33 - int(rng.integers(3, 9)), 4)):
        x = rng.normal(size=blocks * threads).astype("float32")
        says = f"{blocks} blocks of {threads} threads, {steps} steps"
        case = Case((blocks,), (threads,), (x, steps), says)
        judge_kernel(submission, [case], fix_the_race, ("x",), (("element",),), MUTANTS, limit)


FIX_THE_RACE = Exercise(
    name="fix_the_race",
    points=3,
    difficulty=3,
    minutes=15,
    lines=12,
    hints=(
        "Run the kernel as it is given and read the finding: it names two lines, two threads and one "
        "element. Which of the two should come first?",
        "There are two dangers in every step: reading a neighbour's number before it has been written, "
        "and writing one's own while a neighbour still has to read the old one. One barrier cannot stand "
        "in both places.",
        "In the loop: `cuda.syncthreads()`, then the mean into a variable, `cuda.syncthreads()` again, "
        "then the write. All threads of the block must reach both.",
    ),
    check=check,
    truth=fix_the_race,
    mutants=MUTANTS,
    also_right=(
        """from rnnlab import cuda
@cuda.jit
def fix_the_race(x, steps):
    part = cuda.shared.array((2, 32), np.float32)
    i, n, now = cuda.threadIdx.x, cuda.blockDim.x, 0
    part[0, i] = x[cuda.grid(1)]
    cuda.syncthreads()
    for _ in range(steps):
        total = part[now, (i + n - 1) % n] + part[now, i] + part[now, (i + 1) % n]
        part[1 - now, i] = total / np.float32(3)
        now = 1 - now
        cuda.syncthreads()
    x[cuda.grid(1)] = part[now, i]
""",
        """from rnnlab import cuda
@cuda.jit
def fix_the_race(x, steps):
    part = cuda.shared.array(32, np.float32)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    mine = x[cuda.grid(1)]
    for _ in range(steps):
        part[i] = mine
        cuda.syncthreads()
        mine = (part[(i - 1 + n) % n] + mine + part[(i + 1) % n]) / np.float32(3)
        cuda.syncthreads()
    x[cuda.grid(1)] = mine
""",
    ),
    is_kernel=True,
)
