"""Pointwise operations as kernels in CUDA C++: one expression for each rule.

A kernel loops over the elements of [rows, columns] regions that lie in larger matrices: it gets each region's
first element and the length of its buffer's rows.  It loads what the operation reads, works through the body
in registers, and stores what it writes.  A bias has rows of length 0: every row is the first.
"""

from functools import cache
from typing import NamedTuple
from zlib import crc32

from rnnlab.schedule.plan import Operation, Region

EXPRESSIONS = {  # rule of graphs/rules.py -> its value, in words that C++ and Python share: tests simulate it
    "sum": lambda *terms: " + ".join(terms),
    "times": lambda a, b: f"{a} * {b}",
    "bias": lambda a, b: f"{a} + {b}",
    "one_minus": lambda a: f"one - {a}",
    "negative": lambda a: f"-{a}",
    "tanh": lambda a: f"tanh({a})",
    "tanh_slope": lambda d, h: f"{d} * (one - {h} * {h})",
    "sigmoid": lambda a: f"half * tanh(half * {a}) + half",
    "sigmoid_slope": lambda d, h: f"{d} * ({h} * (one - {h}))",
    "relu": lambda a: f"max({a}, zero)",
    "relu_slope": lambda d, h: f"({h} > zero) * {d}",
}
HALF = "float16"
NUMBERS = {"float32": "float", "float64": "double", HALF: "__half"}  # as they lie in memory


class Work(NamedTuple):
    """The computation of a kernel, apart from the buffers it is launched on."""

    loads: int  # regions 0 … loads are read
    body: tuple[
        tuple[str, tuple[int, ...]], ...
    ]  # (rule, registers it reads) makes register loads, loads + 1, …
    stores: tuple[int, ...]  # registers that regions loads, loads + 1, … get

    @property
    def name(self) -> str:
        """The same for the same work."""
        rules = [rule for rule, _ in self.body]
        return f"pointwise_{rules[0] if len(rules) == 1 else len(rules)}_{crc32(repr(self).encode()):08x}"


class PointwiseLaunch(NamedTuple):
    """A kernel's work and the regions it is launched on, read ones first."""

    work: Work
    regions: tuple[Region, ...]


def launch_of(operation: Operation) -> PointwiseLaunch:
    """The kernel of a pointwise operation."""
    reads = tuple(dict.fromkeys(operation.reads))
    register = {region: k for k, region in enumerate(reads)}
    body = []
    for equation in operation.body:
        body.append((equation.rule, tuple(register[region] for region in equation.reads)))
        register[equation.write] = len(reads) + len(body) - 1
    work = Work(len(reads), tuple(body), tuple(register[region] for region in operation.writes))
    return PointwiseLaunch(work, reads + operation.writes)


def row_length(region: Region, rows: int, columns: int) -> int:
    """Elements from a row to the next, in a buffer of that many columns; 0 where one row serves all."""
    return 0 if region.shape[0] == 1 != rows else columns


@cache
def cuda_source(work: Work, dtype: str) -> str:
    """The kernel in CUDA C++; arithmetic of float16 is float's."""
    memory = NUMBERS[dtype]
    register = NUMBERS["float32" if dtype == HALF else dtype]
    parameters = "".join(f", {memory} *p{k}, int s{k}" for k in range(work.loads + len(work.stores)))
    lines = [f"const {register} {name} = {line};" for name, line in registers(work)]
    lines += [f"p{k}[row * s{k} + column] = ({memory})r{r};" for k, r in enumerate(work.stores, work.loads)]
    body = "\n".join(f"    {line}" for line in lines)
    return f"""{"#include <cuda_fp16.h>" if dtype == HALF else ""}
extern "C" __global__ void {work.name}(int count, int columns{parameters}) {{
  const {register} one = 1, half = 0.5, zero = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {{
    const int row = i / columns, column = i % columns;
{body}
  }}
}}
"""


def registers(work: Work) -> list[tuple[str, str]]:
    """(register, expression) of each load and each rule, in order."""
    loads = [(f"r{k}", f"p{k}[row * s{k} + column]") for k in range(work.loads)]
    results = [
        (f"r{k}", EXPRESSIONS[rule](*(f"r{operand}" for operand in read)))
        for k, (rule, read) in enumerate(work.body, work.loads)
    ]
    return loads + results
