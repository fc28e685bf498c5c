"""out[warp] ← the sum of 32 numbers, from register to register: no shared memory, no barrier."""

import numpy as np

from rnnlab import cuda
from rnnlab.checks.kernels import Case, judge_kernel
from rnnlab.grading.exercise import Exercise, Mutant


@cuda.jit
def warp_sum_kernel(x, out):
    value = np.float32(0)
    if cuda.grid(1) < x.size:
        value = x[cuda.grid(1)]
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if cuda.threadIdx.x % 32 == 0:
        out[cuda.grid(1) // 32] = value


MUTANTS = (
    Mutant("starts the halving at 8", "step = 16", "step = 8"),
    Mutant("stops one step early", "while step > 0:", "while step > 1:"),
    Mutant("takes the neighbour's value every time", "value, step)", "value, 1)"),
    Mutant("replaces its value instead of adding", "value += cuda", "value = cuda"),
    Mutant("shuffles up, so that the last lane has the sum", "shfl_down_sync", "shfl_up_sync"),
    Mutant("lets every lane write", "if cuda.threadIdx.x % 32 == 0:", "if cuda.threadIdx.x >= 0:"),
    Mutant("counts blocks instead of warps", "out[cuda.grid(1) // 32]", "out[cuda.blockIdx.x]"),
    Mutant("reads beyond the end", "if cuda.grid(1) < x.size:", "if cuda.warpsize > 0:"),
    Mutant(
        "goes through shared memory",
        "        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)",
        "        part = cuda.shared.array(64, np.float32)\n        part[cuda.threadIdx.x] = value\n"
        "        cuda.syncwarp()\n"
        "        value += part[(cuda.threadIdx.x + step) % 32 + cuda.threadIdx.x // 32 * 32]\n"
        "        cuda.syncwarp()",
    ),
)


def limit(ran, case):
    """Registers only."""
    if ran.counts["shared_requests"]:
        return "It goes through shared memory; a shuffle takes a value straight from another lane's register"
    if ran.counts["atomics"]:
        return f"It uses {ran.counts['atomics']} atomics; one store for each warp is enough"
    return None


def check(submission, rng):
    drawn = int(rng.integers(70, 90))
    for n, blocks, threads in ((32, 1, 32), (64, 2, 32), (20, 1, 32), (drawn, 2, 64)):
        x = rng.normal(size=n).astype("float32")
        out = np.zeros(blocks * threads // 32, "float32")
        case = Case((blocks,), (threads,), (x, out), f"n={n}, {blocks} blocks of {threads} threads")
        axes = (("element",), ("warp",))
        judge_kernel(submission, [case], warp_sum_kernel, ("x", "out"), axes, MUTANTS, limit)


WARP_SUM_KERNEL = Exercise(
    name="warp_sum_kernel",
    points=3,
    difficulty=3,
    minutes=15,
    lines=8,
    hints=(
        "Lanes of a warp run in step and can read one another's registers. Which lane's value does lane i"
        " need in the first of the five steps, and which in the second?",
        "cuda.shfl_down_sync(0xFFFFFFFF, value, step) gives lane i the value of lane i + step. Add it to "
        "your own; halve step; after 16, 8, 4, 2, 1 lane 0 holds the sum of all 32.",
        "Lanes beyond the end bring 0. Then `while step > 0: value += cuda.shfl_down_sync(0xFFFFFFFF, "
        "value, step)` with step halved each time, and lane 0 of each warp writes out[cuda.grid(1) // "
        "32].",
    ),
    check=check,
    truth=warp_sum_kernel,
    mutants=MUTANTS,
    also_right=(
        """from rnnlab import cuda
@cuda.jit
def warp_sum_kernel(x, out):
    g = cuda.grid(1)
    value = x[g] if g < x.size else np.float32(0)
    for step in (1, 2, 4, 8, 16):
        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, step)
    if cuda.laneid == 0:
        out[g // 32] = value
""",
        """from rnnlab import cuda
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    total = np.float32(0)
    if i < x.size:
        total += x[i]
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 16)
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 8)
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 4)
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 2)
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 1)
    if i % 32 == 0:
        out[i // 32] = total
""",
    ),
    is_kernel=True,
)
