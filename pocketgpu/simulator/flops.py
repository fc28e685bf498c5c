"""Floating-point operations of a launch by source line and dtype, from the kernel's types and the trace.

Numba's types say which operations a line has, the trace says how often it ran.  An addition, subtraction,
multiplication or division is one, cuda.fma two; functions such as math.exp take tens of instructions and
are counted by themselves, as "float32 functions".  What cannot be known is left out: operations of a loop
that touches no memory.  A kernel that Numba cannot compile has no count, and the report says why.

A basic block with an access to memory ran as often as the access.  For a block without one the flow is
conserved: as many threads enter it as leave the blocks before it.
"""

import operator
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from numba.core import types
from numba.core.errors import NumbaError

from pocketgpu.compiling.target import ir
from pocketgpu.compiling.typing import SHIFT, TypedKernel, type_of, typed
from pocketgpu.simulator.strict import ImplicitFloat64
from pocketgpu.simulator.trace import KINDS, Columns, SourcePlace

Seen = dict[tuple[int, ...], int]  # instructions of one place in the program: how often it ran


def executions(program: TypedKernel, seen: Seen, entries: int | None) -> dict[int, int]:
    """{block: how often it ran}, for how often each place ran and the number of calls.

    The condition of a while stands in two blocks: before the loop and at its end.
    """
    starts = sorted(program.blocks)
    counts = {start: 0 for start in starts if _touches_memory(program, start)}
    of_places = [
        ({starts[bisect_right(starts, i) - 1] for i in place}, times) for place, times in seen.items()
    ]
    for blocks, times in of_places:
        if len(blocks) == 1:
            (start,) = blocks
            counts[start] = max(counts.get(start, 0), times)
    shared = [(blocks, times) for blocks, times in of_places if len(blocks) > 1]
    for start in set().union(*(blocks for blocks, _ in shared)):
        if not counts.get(start):
            counts.pop(start, None)
    flow = Flow(program, counts, entries)
    while flow.step() or any(flow.complete(*place) for place in shared):
        pass  # each step makes the count of one more block or edge known
    return flow.counts


def instructions(site: SourcePlace) -> tuple[int, ...]:
    """Where the instructions of a site stand in its code."""
    return tuple(2 * k for k, place in enumerate(site.code.co_positions()) if place == site.position)


def _touches_memory(program: TypedKernel, start: int) -> bool:
    """Does it have an access that a trace writes down?  One element of an array is; a slice is none."""
    for statement in program.blocks[start].body:
        value = getattr(statement, "value", None)
        if isinstance(statement, ir.SetItem | ir.StaticSetItem):
            return True
        if isinstance(value, ir.Expr) and value.op in ("getitem", "static_getitem"):
            whole = program.types[value.value.name]
            element = program.types[statement.target.name]
            if isinstance(whole, types.Array) and isinstance(element, types.Number):
                return True
    return False


class Flow:
    """How often each block of a function ran, and each edge between two was taken, as far as known."""

    def __init__(self, program: TypedKernel, counts: dict[int, int], entries: int | None):
        self.blocks = sorted(program.blocks)
        self.counts = dict(counts)
        self.edges = {("call", self.blocks[0]): entries}
        for start, block in program.blocks.items():
            targets = [max(0, label - SHIFT) for label in block.terminator.get_targets()] or ["return"]
            self.edges |= {(start, target): None for target in targets}

    def step(self) -> bool:
        """Derive one more count; False if no more can be derived."""
        return any(self._derive(block, sides) for block in self.blocks for sides in self._sides(block))

    def complete(self, blocks: set[int], times: int) -> bool:
        """Derive the count of the one block of these that is unknown, where all ran so often together."""
        unknown = [block for block in blocks if block not in self.counts]
        if len(unknown) != 1:
            return False
        self.counts[unknown[0]] = max(0, times - sum(self.counts[b] for b in blocks if b in self.counts))
        return True

    def _sides(self, block: int) -> Iterator[list]:
        yield [edge for edge in self.edges if edge[1] == block]
        yield [edge for edge in self.edges if edge[0] == block]

    def _derive(self, block: int, side: list) -> bool:
        unknown = [edge for edge in side if self.edges[edge] is None]
        known = sum(self.edges[edge] for edge in side if edge not in unknown)
        if block not in self.counts and not unknown:
            self.counts[block] = known
            return True
        if block in self.counts and len(unknown) == 1:
            self.edges[unknown[0]] = max(0, self.counts[block] - known)
            return True
        return False


ARITHMETIC = {
    *(operator.add, operator.sub, operator.mul, operator.truediv),
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv),
}
HALVES = {"hadd": 1, "hsub": 1, "hmul": 1, "hdiv": 1, "hfma": 2}  # of cuda.fp16
FREE = {"min", "max", "abs", "fabs", "copysign", "selp"}  # no arithmetic in the usual count
_known: dict = {}  # what a kernel's blocks compute, or why that is unknown, by function and types

Flops = dict[int, dict[str, int]]  # line -> dtype -> operations


class FlopsUnknown(ValueError):
    """Why a launch's operations cannot be counted."""


def flops(kernel: Callable, arguments: tuple, columns: Columns, threads: int | None) -> Flops:
    """Operations of one launch by line; threads is how many ran to their end, None where that is unknown.

    Raises FlopsUnknown where Numba finds no types for the kernel.
    """
    seen = {}
    kinds = columns.site * KINDS + columns.kind
    for number, times in zip(*np.unique(kinds, return_counts=True), strict=True):
        site = columns.sites[int(number) // KINDS]
        places = seen.setdefault(id(site.code), {})
        place = instructions(site)
        places[place] = max(places.get(place, 0), int(times))  # a[i] += 1 loads and stores
    result = {}
    try:
        kinds = tuple(map(type_of, arguments))
    except (ValueError, NumbaError) as error:
        raise FlopsUnknown(f"an argument has no type on a GPU: {error}") from error
    _add(getattr(kernel, "py_func", kernel), kinds, seen, threads, result)
    return {line: dict(counts) for line, counts in sorted(result.items())}


def _add(function: Callable, kinds: tuple, seen: dict, entries: int | None, result: dict) -> None:
    """Add a function's operations, and those of the device functions it calls."""
    program, operations = _typed(function, kinds)
    counts = executions(program, seen.get(id(function.__code__), {}), entries)
    calls = Counter()
    for block, times in counts.items():
        for line, kind, number in operations[block]:
            if isinstance(kind, tuple):
                calls[kind] += times
            elif times:
                result.setdefault(line, Counter())[kind] += times * number
    for (inner, inner_kinds), times in calls.items():
        _add(inner, inner_kinds, seen, times, result)


def _typed(function: Callable, kinds: tuple) -> tuple[TypedKernel, dict[int, list]]:
    """A function with types, and the operations of each of its blocks.  Raises FlopsUnknown."""
    key = function, kinds
    if key not in _known:
        try:
            program = typed(function, kinds)
        except Exception as error:  # Numba refuses in many ways; strict mode says what to do about them
            lines = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).split("\n")
            reason = next((line for line in lines if line and not line.startswith("Failed in")), "")
            _known[key] = FlopsUnknown(f"Numba compiles no {function.__name__}: {reason.strip(' :')}")
        else:
            _known[key] = program, {block: [*_operations(program, block)] for block in program.blocks}
    if isinstance(_known[key], FlopsUnknown):
        raise _known[key]
    return _known[key]


def _operations(program: TypedKernel, block: int) -> Iterator[tuple[int, object, int]]:
    """(line, dtype, operations) of a block; a call of a device function has (function, types) for dtype."""
    creep = ImplicitFloat64(program)
    for statement in program.blocks[block].body:
        value = getattr(statement, "value", None)
        signature = program.signatures.get(value) if isinstance(value, ir.Expr) else None
        if signature is None or not isinstance(statement, ir.Assign):
            continue
        narrow = creep.narrowed(statement) and signature.return_type == types.float64
        dtype = "float32" if narrow else str(signature.return_type)
        called = program.types.get(value.func.name) if value.op == "call" else None
        if isinstance(called, types.Dispatcher):
            yield statement.loc.line, (called.dispatcher.py_func, signature.args), 1
        elif isinstance(signature.return_type, types.Float):
            yield from ((statement.loc.line, *count) for count in _counted(value, called, dtype))


def _counted(value: ir.Expr, called: types.Type | None, dtype: str) -> Iterator[tuple[str, int]]:
    if value.op in ("binop", "inplace_binop"):
        yield (dtype, 1) if value.fn in ARITHMETIC else (f"{dtype} functions", 1)
    elif isinstance(called, types.Function):
        name = getattr(called.typing_key, "__name__", "")
        if name == "fma" or name in HALVES:
            yield dtype, HALVES.get(name, 2)
        elif getattr(called.typing_key, "__module__", "") == "math" and name not in FREE:
            yield f"{dtype} functions", 1
