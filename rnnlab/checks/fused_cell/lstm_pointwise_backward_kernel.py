"""The way back through an LSTM step's pointwise work in one launch."""

import math

import numpy as np

from rnnlab import cuda
from rnnlab.checks.kernels import Case, judge_kernel
from rnnlab.grading.exercise import Exercise, Mutant


@cuda.jit
def lstm_pointwise_backward_kernel(gates, c, c_next, dh, dc_next, dsums, dc):
    unit, row = cuda.grid(2)
    B, H = c.shape
    if row < B and unit < H:
        one = np.float32(1)
        i, f = gates[row, unit], gates[row, H + unit]
        g, o = gates[row, 2 * H + unit], gates[row, 3 * H + unit]
        bent = math.tanh(c_next[row, unit])
        arriving = dh[row, unit]
        d = dc_next[row, unit] + arriving * o * (one - bent * bent)
        dsums[row, unit] = d * g * i * (one - i)
        dsums[row, H + unit] = d * c[row, unit] * f * (one - f)
        dsums[row, 2 * H + unit] = d * i * (one - g * g)
        dsums[row, 3 * H + unit] = arriving * bent * o * (one - o)
        dc[row, unit] = d * f


MUTANTS = (
    Mutant("forgets what later steps send to c", "dc_next[row, unit] + arriving * o", "arriving * o"),
    Mutant(
        "forgets what h sends to c",
        "dc_next[row, unit] + arriving * o * (one - bent * bent)",
        "dc_next[row, unit]",
    ),
    Mutant("forgets the slope of tanh(c)", "arriving * o * (one - bent * bent)", "arriving * o"),
    Mutant(
        "takes the cell before the step for the one after",
        "math.tanh(c_next[row, unit])",
        "math.tanh(c[row, unit])",
    ),
    Mutant(
        "takes the cell after the step for the one before",
        "d * c[row, unit] * f",
        "d * c_next[row, unit] * f",
    ),
    Mutant("bends the candidate's gradient by the sigmoid's slope", "(one - g * g)", "g * (one - g)"),
    Mutant("forgets the slope of the output gate", "arriving * bent * o * (one - o)", "arriving * bent"),
    Mutant("sends all of dc on to the step before", "dc[row, unit] = d * f", "dc[row, unit] = d"),
    Mutant("loads dh a second time", "= arriving * bent * o", "= dh[row, unit] * bent * o"),
    Mutant("lets threads beyond the last unit work", "row < B and unit < H", "row < B"),
)
WIDE, UNITS = ("sequence", "gate column"), ("sequence", "unit")
NAMES = ("the gates", "c", "the new c", "dh", "dc of the new c", "dsums", "dc")
AXES = (WIDE, *[UNITS] * 4, WIDE, UNITS)


def limit(ran, case):
    """Eight numbers read and five written for each unit."""
    units = case.arguments[1].size
    loads, stores = ran.counts["global_loads"], ran.counts["global_stores"]
    if loads > 8 * units:
        return f"It loads {loads / units:.3g} numbers a unit; four gates, two c, dh and dc are 8"
    if stores > 5 * units:
        return f"It stores {stores / units:.3g} numbers a unit; four gradients of sums and dc are 5"
    return None


def check(submission, rng):
    for B, H, block in (
        (1, 1, (1, 1)),
        (2, 3, (4, 2)),
        (3, 8, (8, 4)),
        (int(rng.integers(3, 6)), 11, (8, 2)),
    ):
        draw = lambda *shape: rng.normal(size=shape).astype("float32")
        gates = rng.uniform(0.1, 0.9, (B, 4 * H)).astype("float32")
        nothing = [np.full(shape, np.nan, "float32") for shape in ((B, 4 * H), (B, H))]
        given = (gates, *(draw(B, H) for _ in range(4)), *nothing)
        grid = (-(-H // block[0]), -(-B // block[1]))
        case = Case(grid, block, given, f"B={B}, H={H}, blocks of {block}")
        judge_kernel(submission, [case], lstm_pointwise_backward_kernel, NAMES, AXES, MUTANTS, limit)


LSTM_POINTWISE_BACKWARD_KERNEL = Exercise(
    name="lstm_pointwise_backward_kernel",
    points=3,
    difficulty=4,
    minutes=30,
    lines=14,
    hints=(
        "Two gradients arrive: dh at the output, and dc_next at the cell, from the step after. By which of "
        "the two does something reach the gates i, f and g, and by which o?",
        "d = dc_next + dh·o·(1 − tanh²(c_next)) is all that arrives at the new cell. i gets d·g, f gets d·c, "
        "g gets d·i, o gets dh·tanh(c_next); each times the slope of its function, written on its output. "
        "The cell before gets d·f.",
        "Slopes: i·(1 − i) for a sigmoid, 1 − g² for tanh. Load dh once into a variable; it is needed for d "
        "and for o.",
    ),
    check=check,
    truth=lstm_pointwise_backward_kernel,
    mutants=MUTANTS,
    also_right=(
        """import math
from rnnlab import cuda
@cuda.jit(device=True)
def slope(s):
    return s * (np.float32(1) - s)
@cuda.jit
def lstm_pointwise_backward_kernel(gates, c, c_next, dh, dc_next, dsums, dc):
    u, b = cuda.grid(2)
    H = c.shape[1]
    if b < c.shape[0] and u < H:
        i, f, g, o = gates[b, u], gates[b, H + u], gates[b, 2 * H + u], gates[b, 3 * H + u]
        e, t = dh[b, u], math.tanh(c_next[b, u])
        d = e * o * (np.float32(1) - t * t) + dc_next[b, u]
        dc[b, u] = f * d
        dsums[b, u] = g * d * slope(i)
        dsums[b, H + u] = c[b, u] * d * slope(f)
        dsums[b, 2 * H + u] = (np.float32(1) - g * g) * i * d
        dsums[b, 3 * H + u] = t * e * slope(o)
""",
        """import math
from rnnlab import cuda
@cuda.jit
def lstm_pointwise_backward_kernel(gates, c, c_next, dh, dc_next, dsums, dc):
    B, H = c.shape
    unit = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if unit < H:
        if row < B:
            g = gates[row, unit + 2 * H]
            i = gates[row, unit]
            bent = math.tanh(c_next[row, unit])
            up = dh[row, unit]
            o = gates[row, unit + 3 * H]
            dsums[row, unit + 3 * H] = up * bent * (o - o * o)
            d = up * (o - o * bent * bent)
            d += dc_next[row, unit]
            dsums[row, unit] = d * g * (i - i * i)
            dsums[row, unit + 2 * H] = d * (i - i * g * g)
            f = gates[row, unit + H]
            dsums[row, unit + H] = d * c[row, unit] * (f - f * f)
            dc[row, unit] = d * f
""",
    ),
    is_kernel=True,
)
