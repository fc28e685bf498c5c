"""An LSTM step behind its products in one launch: gates, c and h, each number read once and written once."""

import math

import numpy as np

from rnnlab import cuda
from rnnlab.checks.kernels import Case, judge_kernel
from rnnlab.grading.exercise import Exercise, Mutant


@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    unit, row = cuda.grid(2)
    B, H = c.shape
    if row < B and unit < H:
        half = np.float32(0.5)
        i = half * math.tanh(half * sums[row, unit]) + half
        f = half * math.tanh(half * sums[row, H + unit]) + half
        g = math.tanh(sums[row, 2 * H + unit])
        o = half * math.tanh(half * sums[row, 3 * H + unit]) + half
        new = f * c[row, unit] + i * g
        c_next[row, unit] = new
        h_next[row, unit] = o * math.tanh(new)
        gates[row, unit] = i
        gates[row, H + unit] = f
        gates[row, 2 * H + unit] = g
        gates[row, 3 * H + unit] = o


MUTANTS = (
    Mutant(
        "takes the forget gate for the input gate",
        "new = f * c[row, unit] + i * g",
        "new = i * c[row, unit] + f * g",
    ),
    Mutant("forgets what was in the cell", "f * c[row, unit] + i * g", "i * g"),
    Mutant(
        "bends the candidate by the sigmoid",
        "g = math.tanh(sums[row, 2 * H + unit])",
        "g = half * math.tanh(half * sums[row, 2 * H + unit]) + half",
    ),
    Mutant("lets the cell out without tanh", "o * math.tanh(new)", "o * new"),
    Mutant("lets the old cell out", "o * math.tanh(new)", "o * math.tanh(c[row, unit])"),
    Mutant("reads c again from memory", "o * math.tanh(new)", "o * math.tanh(c_next[row, unit])"),
    Mutant(
        "keeps the sums in place of the gates",
        "gates[row, unit] = i\n",
        "gates[row, unit] = sums[row, unit]\n",
    ),
    Mutant("keeps the candidate twice", "gates[row, 3 * H + unit] = o", "gates[row, 3 * H + unit] = g"),
    Mutant("lets threads beyond the last unit work", "row < B and unit < H", "row < B"),
    Mutant("takes gates of neighbouring columns", "sums[row, H + unit]", "sums[row, 1 + unit]"),
)
AXES = (
    ("sequence", "gate column"),
    ("sequence", "unit"),
    ("sequence", "gate column"),
    *[("sequence", "unit")] * 2,
)


def limit(ran, case):
    """Five numbers read and six written for each unit."""
    units = case.arguments[1].size
    loads, stores = ran.counts["global_loads"], ran.counts["global_stores"]
    if loads > 5 * units:
        return f"It loads {loads / units:.3g} numbers a unit; four sums and c are 5"
    if stores > 6 * units:
        return f"It stores {stores / units:.3g} numbers a unit; four gates, c and h are 6"
    return None


def check(submission, rng):
    for B, H, block in (
        (1, 1, (1, 1)),
        (2, 3, (4, 2)),
        (3, 8, (8, 4)),
        (int(rng.integers(3, 6)), 11, (8, 2)),
    ):
        draw = lambda *shape: rng.normal(size=shape).astype("float32")
        nothing = [np.full(shape, np.nan, "float32") for shape in ((B, 4 * H), (B, H), (B, H))]
        grid = (-(-H // block[0]), -(-B // block[1]))
        case = Case(
            grid, block, (2 * draw(B, 4 * H), draw(B, H), *nothing), f"B={B}, H={H}, blocks of {block}"
        )
        names = ("sums", "c", "the gates", "the new c", "the new h")
        judge_kernel(submission, [case], lstm_pointwise_kernel, names, AXES, MUTANTS, limit)


LSTM_POINTWISE_KERNEL = Exercise(
    name="lstm_pointwise_kernel",
    points=3,
    difficulty=3,
    minutes=25,
    lines=14,
    hints=(
        "A thread has one unit of one sequence. Which numbers does it need, and which of them has it made "
        "itself a line before?",
        "Load the four sums and c into variables, compute i, f, g, o, the new c and h in variables, store "
        "six numbers at the end. Whatever a variable holds needs no second load.",
        "The sums lie side by side: i at column unit, f at H + unit, g at 2·H + unit, o at 3·H + unit. σ(a) "
        "is half · tanh(half · a) + half with half = np.float32(0.5).",
    ),
    check=check,
    truth=lstm_pointwise_kernel,
    mutants=MUTANTS,
    also_right=(
        """import math
from rnnlab import cuda
@cuda.jit(device=True)
def sigmoid(a):
    return np.float32(1) / (np.float32(1) + math.exp(-a))
@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    u, b = cuda.grid(2)
    H = c.shape[1]
    if b < c.shape[0]:
        if u < H:
            i, f, o = sigmoid(sums[b, u]), sigmoid(sums[b, H + u]), sigmoid(sums[b, 3 * H + u])
            g = math.tanh(sums[b, 2 * H + u])
            cell = c[b, u] * f
            cell += g * i
            gates[b, u], gates[b, H + u], gates[b, 2 * H + u], gates[b, 3 * H + u] = i, f, g, o
            c_next[b, u], h_next[b, u] = cell, math.tanh(cell) * o
""",
        """import math
from rnnlab import cuda
@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    B, H = c.shape
    column, first = cuda.grid(2)
    for row in range(first, B, cuda.gridDim.y * cuda.blockDim.y):
        for unit in range(column, H, cuda.gridDim.x * cuda.blockDim.x):
            one = np.float32(1)
            i = one / (one + math.exp(-sums[row, unit]))
            f = one / (one + math.exp(-sums[row, unit + H]))
            g = math.tanh(sums[row, unit + 2 * H])
            o = one / (one + math.exp(-sums[row, unit + 3 * H]))
            gates[row, unit] = i
            gates[row, unit + H] = f
            gates[row, unit + 2 * H] = g
            gates[row, unit + 3 * H] = o
            cell = f * c[row, unit] + i * g
            c_next[row, unit] = cell
            h_next[row, unit] = o * math.tanh(cell)
""",
    ),
    is_kernel=True,
)
