"""out[block] ← the sum of the block's share of x, by halving in shared memory."""

import numpy as np

from rnnlab import cuda
from rnnlab.checks.kernels import Case, judge_kernel
from rnnlab.grading.exercise import Exercise, Mutant


@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    part[i] = np.float32(0)
    if cuda.grid(1) < x.size:
        part[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if i < step:
            part[i] += part[i + step]
        cuda.syncthreads()
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = part[0]


HALVING = "if i < step:\n            part[i] += part[i + step]\n"
ALONE = (
    "if i == 0:\n            for k in range(1, cuda.blockDim.x):\n                part[0] += part[k]\n"
    "        cuda.syncthreads()\n        step = 0"
)
MUTANTS = (
    Mutant("has no barrier between two halvings", "        cuda.syncthreads()\n        step", "        step"),
    Mutant("starts before all have brought their number", "    cuda.syncthreads()\n    step", "    step"),
    Mutant(
        "puts the barrier where only half the block comes",
        "        cuda.syncthreads()\n        step",
        "            cuda.syncthreads()\n        step",
    ),
    Mutant("lets every thread add", "if i < step:", "if i + step < cuda.blockDim.x:"),
    Mutant("stops one halving early", "while step > 0:", "while step > 1:"),
    Mutant("leaves threads beyond the end without a number", "    part[i] = np.float32(0)\n", ""),
    Mutant("reads beyond the end", "if cuda.grid(1) < x.size:", "if i >= 0:"),
    Mutant(
        "lets one thread add everything up", f"{HALVING}        cuda.syncthreads()\n        step //= 2", ALONE
    ),
)


def limit(ran, case):
    """A barrier a halving, one before and one after at most."""
    blocks, threads = case.grid[0], case.block[0]
    halvings = threads.bit_length() - 1
    if (barriers := ran.counts["barriers"]) > blocks * (halvings + 2):
        return f"{barriers} barriers where {blocks * (halvings + 1)} are enough"
    wanted = blocks * (halvings + 1) if halvings > 1 else 0
    if barriers < min(wanted, blocks * halvings):
        return (
            f"{barriers} barriers: {threads} numbers take {halvings} halvings, not one addition after another"
        )
    return None


def check(submission, rng):
    drawn = int(rng.integers(33, 60))
    for n, blocks, threads in ((2, 1, 2), (8, 1, 8), (64, 2, 32), (drawn, 1, 64), (100, 4, 32)):
        x = rng.normal(size=n).astype("float32")
        says = f"n={n}, {blocks} blocks of {threads} threads"
        case = Case((blocks,), (threads,), (x, np.zeros(blocks, "float32")), says)
        axes = (("element",), ("block",))
        judge_kernel(submission, [case], block_sum_kernel, ("x", "out"), axes, MUTANTS, limit)


BLOCK_SUM_KERNEL = Exercise(
    name="block_sum_kernel",
    points=4,
    difficulty=3,
    minutes=20,
    lines=13,
    hints=(
        "64 numbers can be added pairwise: 32 threads add 32 pairs at once. How often do you halve until "
        "one is left?",
        "After each halving the first `step` numbers hold what is left. Everybody must have finished a "
        "halving before anybody starts the next, and the barrier is for all threads, also for those with "
        "nothing to add.",
        "`step = cuda.blockDim.x // 2`, then `while step > 0:` with `if i < step: part[i] += part[i + "
        "step]`, a barrier outside the if, `step //= 2`. At the end thread 0 writes part[0].",
    ),
    check=check,
    truth=block_sum_kernel,
    mutants=MUTANTS,
    also_right=(
        """from rnnlab import cuda
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    i, g = cuda.threadIdx.x, cuda.grid(1)
    part[i] = x[g] if g < x.size else np.float32(0)
    width = cuda.blockDim.x
    while width > 1:
        cuda.syncthreads()
        width = width // 2
        if i < width:
            part[i] = part[i] + part[width + i]
    if i == 0:
        out[cuda.blockIdx.x] = part[0]
""",
        """from rnnlab import cuda
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    mine = np.float32(0)
    if cuda.grid(1) < x.size:
        mine = x[cuda.grid(1)]
    part[i] = mine
    cuda.syncthreads()
    step = cuda.blockDim.x >> 1
    while step:
        if i < step:
            mine += part[i + step]
            part[i] = mine
        cuda.syncthreads()
        step >>= 1
    if not i:
        out[cuda.blockIdx.x] = mine
""",
    ),
    is_kernel=True,
)
