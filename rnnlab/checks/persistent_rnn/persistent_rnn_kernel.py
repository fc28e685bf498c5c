"""An RNN's whole sequence in one kernel: weights are read once, graded by counting loads."""

import math

import numpy as np

from rnnlab import cuda
from rnnlab.checks.kernels import Case, judge_kernel
from rnnlab.grading.exercise import Exercise, Mutant

WIDE = 16


@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    mine = cuda.local.array(16, np.float32)
    unit = cuda.grid(1)
    for k in range(16):
        mine[k] = weights[unit, k]
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += mine[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()


MUTANTS = (
    Mutant("reads the weights in every step", "mine[k] * h[t, k]", "weights[unit, k] * h[t, k]"),
    Mutant("multiplies with a column of the weights", "weights[unit, k]", "weights[k, unit]"),
    Mutant("counts units inside the block only", "unit = cuda.grid(1)", "unit = cuda.threadIdx.x"),
    Mutant("forgets the inputs", "total = inputs[t, unit]", "total = np.float32(0)"),
    Mutant("takes the inputs of the first step", "total = inputs[t, unit]", "total = inputs[0, unit]"),
    Mutant("forgets tanh", "math.tanh(total)", "total"),
    Mutant("starts from the first state in every step", "mine[k] * h[t, k]", "mine[k] * h[0, k]"),
    Mutant("has no fence before the flag", "            cuda.threadfence()\n", ""),
    Mutant("does not wait for the other blocks", "< cuda.gridDim.x:", "< 0:"),
)


def limit(ran, case):
    """Weights once; inputs and h may be read by everybody in every step."""
    steps, most = len(case.arguments[2]), WIDE * WIDE + len(case.arguments[2]) * WIDE * (WIDE + 1)
    if ran.counts["global_loads"] > most:
        return (
            f"{ran.counts['global_loads']} loads; weights read once are {WIDE * WIDE}, with inputs and h of "
            f"{steps} steps {most} in all: keep the weights in a local array"
        )
    return None


def check(submission, rng):
    for blocks, steps in ((1, 1), (2, 2), (4, 3), (4, 8)):
        h = np.full((steps + 1, WIDE), np.nan, "float32")
        h[0] = rng.normal(size=WIDE)
        weights = rng.normal(size=(WIDE, WIDE)).astype("float32") / 4
        inputs = rng.normal(size=(steps, WIDE)).astype("float32")
        arguments = h, weights, inputs, np.zeros(blocks, "int32")
        case = Case(
            (blocks,),
            (WIDE // blocks,),
            arguments,
            f"{blocks} blocks of {WIDE // blocks} threads, {steps} steps",
        )
        axes = (("step", "unit"),)
        judge_kernel(submission, [case], persistent_rnn_kernel, ("h",), axes, MUTANTS, limit)


PERSISTENT_RNN_KERNEL = Exercise(
    name="persistent_rnn_kernel",
    points=4,
    difficulty=4,
    minutes=35,
    lines=16,
    hints=(
        "A launch a step would read all weights in every step. If the loop over time is in the kernel, what "
        "can a thread keep from one step to the next, and what must it get from the others?",
        "Each thread has one unit: it copies its row of 16 weights into cuda.local.array once. In each step "
        "it adds inputs[t, unit] and 16 products with h[t], writes tanh into h[t + 1], and all blocks meet "
        "as in flag_barrier.",
        "`mine = cuda.local.array(16, np.float32)`, filled before the loop; `total += mine[k] * h[t, k]`; "
        "`h[t + 1, unit] = math.tanh(total)`; then the barrier of the exercise before, with t + 1.",
    ),
    check=check,
    truth=persistent_rnn_kernel,
    mutants=MUTANTS,
    also_right=(
        """import math
from rnnlab import cuda
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    grid = cuda.cg.this_grid()
    row = cuda.local.array(16, np.float32)
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for k in range(16):
        row[k] = weights[i, k]
    for t in range(inputs.shape[0]):
        total = np.float32(0)
        for k in range(16):
            total += row[k] * h[t, k]
        h[t + 1, i] = math.tanh(total + inputs[t, i])
        grid.sync()
""",
        """import math
from rnnlab import cuda
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    state = cuda.shared.array(16, np.float32)
    row = cuda.local.array(16, np.float32)
    i, x = cuda.grid(1), cuda.threadIdx.x
    for k in range(16):
        row[k] = weights[i, k]
    for t in range(inputs.shape[0]):
        for k in range(x, 16, cuda.blockDim.x):
            state[k] = h[t, k]
        cuda.syncthreads()
        total = inputs[t, i]
        for k in range(16):
            total += row[k] * state[k]
        h[t + 1, i] = math.tanh(total)
        cuda.syncthreads()
        if x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
            for block in range(cuda.gridDim.x):
                while cuda.atomic.add(flags, block, 0) <= t:
                    pass
            cuda.threadfence()
        cuda.syncthreads()
""",
    ),
    is_kernel=True,
)
