"""Kernels drawn at random, of all that both engines of the simulator know: types, branches, loops, memory.

`kernel(seed)` is one, with arguments for 3 blocks of 32 threads.  Many divide by zero, overflow or race.
"""

import math
import random

import numpy as np
from launches import names_of

from pocketgpu import cuda

BLOCKS, THREADS = 3, 32
SIZE = BLOCKS * THREADS
DTYPES = "float32 float64 int32 int64 uint8 int16 uint32 uint64 float16 bool".split()
FLOATS = "s a[i] b[i] a[(i*7+3)%n] b[t] 0.5 2.0 -1.5 3.7 1e-3".split()
LEAVES = "i t n s a[i] b[i] a[(i*7+3)%n] b[t] 0 1 2 -3 0.5 2.0 1e-3 3.7".split()
OF_FLOATS = "np.float64 float math.floor math.exp math.sin abs -".split()
FUNCTIONS = (
    "np.float32 np.float64 float int np.int32 np.int64 np.uint8 np.float16 np.uint32 "
    "math.floor math.sqrt math.exp math.sin round abs -"
).split()
RANGES = ["3", "t % 5", "i % 4", "1, t % 7", "t % 3, 6, 2", "5, -1, -2", "n % 3"]


class Text:
    """A kernel's text as it grows; `known` are names that every thread has set.

    Of odd seeds all numbers are float64: names keep their type, and more of these run in lockstep.
    """

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.known = []
        self.is_of_floats = bool(seed % 2)
        self.leaves = FLOATS if self.is_of_floats else LEAVES
        self.functions = OF_FLOATS if self.is_of_floats else FUNCTIONS
        self.dtypes = ["float64"] if self.is_of_floats else DTYPES

    def expression(self, depth=0):
        draw = self.draw
        kind = draw.random()
        if depth > 2 or kind < 0.3:
            return draw.choice([*self.leaves, *self.known])
        first, second = self.expression(depth + 1), self.expression(depth + 1)
        if kind < 0.65:
            return f"({first} {draw.choice(['+', '-', '*', '/', '//', '%'])} {second})"
        if kind < 0.72:
            return f"{draw.choice(['max', 'min'])}({first}, {second})"
        if kind < 0.79:
            return f"({first} if {self.condition(depth + 1)} else {second})"
        if kind < 0.9:
            return f"{draw.choice(self.functions)}({first})"
        if kind < 0.95 and not self.is_of_floats:
            return f"(int({first}) {draw.choice(['&', '|', '^', '<<', '>>'])} {draw.choice(['1', '3', 't'])})"
        return f"({first} ** {draw.choice(['2', '0.5', '3', '-1'])})"

    def condition(self, depth=0):
        draw = self.draw
        if depth < 2 and draw.random() < 0.3:
            return f"({self.condition(depth + 1)} {draw.choice(['and', 'or'])} {self.condition(depth + 1)})"
        comparison = draw.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"{self.expression(depth + 1)} {comparison} {self.expression(depth + 1)}"

    def statements(self, depth):
        """Lines of one statement; what is set in a branch or a loop is not known behind it."""
        draw = self.draw
        kind = draw.random()
        if depth > 2 or kind < 0.4:
            name = draw.choice("uvw")
            known = name in self.known
            value = self.expression()
            if not known:
                self.known.append(name)
            return [f"{name} {draw.choice(['=', '+=', '*=']) if known else '='} {value}"]
        if kind < 0.55:
            target = draw.choice(["out[i]", "tile[t]"])
            return [f"{target} {draw.choice(['=', '=', '+='])} {self.expression()}"]
        if kind < 0.72:
            return [f"if {self.condition()}:", *self.block(depth), "else:", *self.block(depth)]
        if kind < 0.86:
            rounds = self.block(depth)
            leave = [f"    if {self.condition()}:", f"        {draw.choice(['break', 'continue'])}"]
            return [f"for k{depth} in range({draw.choice(RANGES)}):", *rounds, *leave, *self.block(depth)]
        if kind < 0.92:
            count = f"c{depth}"
            begin = [
                f"{count} = {draw.choice(['0', 't % 3'])}",
                f"while {count} < {draw.choice(['4', 't % 6'])}:",
            ]
            return [*begin, f"    {count} += 1", *self.block(depth)]
        if kind < 0.97 and depth == 0:
            return [
                "cuda.syncthreads()",
                f"w = tile[(t + {draw.choice([1, 5, 31])}) % 32]",
                "cuda.syncthreads()",
            ]
        return [f"cuda.atomic.{draw.choice(['add', 'max'])}(sums, {draw.choice(['i % 3', '0'])}, i % 9)"]

    def block(self, depth):
        before = [*self.known]
        lines = [line for _ in range(self.draw.randint(1, 2)) for line in self.statements(depth + 1)]
        self.known = before
        return [f"    {line}" for line in lines]


def kernel(seed):
    """A kernel and its arguments: two arrays, sums of atomics, results, and a number."""
    text = Text(seed)
    dtype = text.draw.choice([f"np.{dtype}" for dtype in text.dtypes if dtype[0] in "fi"])
    lines = [f"tile = cuda.shared.array(32, {dtype})", "i = cuda.grid(1)", "t = cuda.threadIdx.x"]
    lines += ["n = a.shape[0]", "tile[t] = a[i]"]
    for _ in range(4):
        lines += text.statements(0)
    lines.append(f"out[i] = {text.expression()}")
    source = "def kernel(a, b, sums, out, s):\n" + "\n".join(f"    {line}" for line in lines) + "\n"
    scope = names_of(source, f"<random kernel {seed}>", cuda=cuda, np=np, math=math)
    draw = np.random.default_rng(seed)
    a, b = (_array(draw, text.draw.choice(text.dtypes)) for _ in range(2))
    out = np.zeros(SIZE, text.draw.choice(text.dtypes))
    number = 2.5 if text.is_of_floats else text.draw.choice([3, np.float32(1.25), np.int32(7), -2, 0])
    return cuda.jit(scope["kernel"]), (a, b, np.zeros(3, np.int32), out, number)


def _array(draw, dtype):
    if not dtype.startswith("float"):
        return draw.integers(0 if dtype[0] in "ub" else -50, 2 if dtype == "bool" else 100, SIZE).astype(
            dtype
        )
    values = draw.normal(0, draw.choice([1, 100]), SIZE)
    if draw.random() < 0.3:
        values[draw.integers(0, SIZE, 5)] = [np.nan, np.inf, -np.inf, 0.0, -0.0]
    return values.astype(dtype)
