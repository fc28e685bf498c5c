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
    shared = []  # places in several blocks, and how often they ran in all of them together
    for place, times in seen.items():
        blocks = {starts[bisect_right(starts, instruction) - 1] for instruction in place}
        if len(blocks) > 1:
            shared.append((blocks, times))
        elif blocks:
            (start,) = blocks
            counts[start] = max(counts.get(start, 0), times)
    for blocks, _ in shared:
        for start in blocks:
            if not counts.get(start):
                counts.pop(start, None)
    flow = Flow(program, counts, entries)
    while flow.step() or any(flow.complete(*place) for place in shared):
        pass  # each step makes the count of one more block or edge known
    return flow.counts


def instructions(site: SourcePlace) -> tuple[int, ...]:
    """Where the instructions of a site stand in its code."""
    positions = enumerate(site.code.co_positions())
    return tuple(2 * number for number, position in positions if position == site.position)


def _touches_memory(program: TypedKernel, start: int) -> bool:
    """Does it have an access that a trace writes down?  One element of an array is; a slice is none."""
    for statement in program.blocks[start].body:
        value = getattr(statement, "value", None)
        if isinstance(statement, ir.SetItem | ir.StaticSetItem):
            return True
        is_load = isinstance(value, ir.Expr) and value.op in ("getitem", "static_getitem")
        if is_load:
            indexed = program.types[value.value.name]
            result = program.types[statement.target.name]
            if isinstance(indexed, types.Array) and isinstance(result, types.Number):
                return True
    return False


class Flow:
    """How often each block of a function ran, and each edge between two was taken, as far as known."""

    def __init__(self, program: TypedKernel, counts: dict[int, int], entries: int | None):
        self.blocks = sorted(program.blocks)
        self.counts = dict(counts)
        self.edges = {("call", self.blocks[0]): entries}
        for start, block in program.blocks.items():
            labels = block.terminator.get_targets()
            targets = [max(0, label - SHIFT) for label in labels] or ["return"]
            for target in targets:
                self.edges[start, target] = None

    def step(self) -> bool:
        """Derive one more count; False if no more can be derived."""
        return any(self._derive(block, sides) for block in self.blocks for sides in self._sides(block))

    def complete(self, blocks: set[int], times: int) -> bool:
        """Derive the count of the one block of these that is unknown, where all ran so often together."""
        unknown = [block for block in blocks if block not in self.counts]
        if len(unknown) != 1:
            return False
        (rest,) = unknown
        known = sum(self.counts[block] for block in blocks - {rest})
        self.counts[rest] = max(0, times - known)
        return True

    def _sides(self, block: int) -> Iterator[list]:
        yield [edge for edge in self.edges if edge[1] == block]
        yield [edge for edge in self.edges if edge[0] == block]

    def _derive(self, block: int, side: list) -> bool:
        unknown = [edge for edge in side if self.edges[edge] is None]
        known = sum(self.edges[edge] or 0 for edge in side)
        if block not in self.counts and not unknown:
            self.counts[block] = known
            return True
        if block in self.counts and len(unknown) == 1:
            (rest,) = unknown
            self.edges[rest] = max(0, self.counts[block] - known)
            return True
        return False


ARITHMETIC = {
    *(operator.add, operator.sub, operator.mul, operator.truediv),
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv),
}
OPERATIONS_OF = {"fma": 2, "hfma": 2, "hadd": 1, "hsub": 1, "hmul": 1, "hdiv": 1}  # h…: cuda.fp16
FREE = {"min", "max", "abs", "fabs", "copysign", "selp"}  # no arithmetic in the usual count
_known: dict = {}  # what a kernel's blocks compute, or why that is unknown, by function and types

Flops = dict[int, dict[str, int]]  # line -> dtype -> operations


class FlopsUnknown(ValueError):
    """Why a launch's operations cannot be counted."""


def flops(kernel: Callable, arguments: tuple, columns: Columns, threads: int | None) -> Flops:
    """Operations of one launch by line; threads is how many ran to their end, None where that is unknown.

    Raises FlopsUnknown where Numba finds no types for the kernel.
    """
    function = getattr(kernel, "py_func", kernel)
    seen = {}
    site_and_kind = columns.site * KINDS + columns.kind
    numbers, counts = np.unique(site_and_kind, return_counts=True)
    for number, times in zip(numbers.tolist(), counts.tolist(), strict=True):
        site = columns.sites[number // KINDS]
        places = seen.setdefault(id(site.code), {})
        place = instructions(site)
        places[place] = max(places.get(place, 0), times)  # a[i] += 1 loads and stores
    result = {}
    try:
        kinds = tuple(map(type_of, arguments))
    except (ValueError, NumbaError) as error:
        raise FlopsUnknown(f"an argument has no type on a GPU: {error}") from error
    _add(function, kinds, seen, threads, result)
    return {line: dict(counts) for line, counts in sorted(result.items())}


def _add(function: Callable, kinds: tuple, seen: dict, entries: int | None, result: dict) -> None:
    """Add a function's operations, and those of the device functions it calls."""
    program, operations = _typed(function, kinds)
    seen_here = seen.get(id(function.__code__), {})
    counts = executions(program, seen_here, entries)
    calls = Counter()
    for block, times in counts.items():
        for line, kind, number in operations[block]:
            if isinstance(kind, tuple):
                calls[kind] += times
            elif times:
                of_line = result.setdefault(line, Counter())
                of_line[kind] += times * number
    for (inner, inner_kinds), times in calls.items():
        _add(inner, inner_kinds, seen, times, result)


def _typed(function: Callable, kinds: tuple) -> tuple[TypedKernel, dict[int, list]]:
    """A function with types, and the operations of each of its blocks.  Raises FlopsUnknown."""
    key = function, kinds
    if key not in _known:
        try:
            program = typed(function, kinds)
        except Exception as error:  # Numba refuses in many ways; strict mode says what to do about them
            message = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
            lines = [line for line in message.split("\n") if line and not line.startswith("Failed in")]
            reason = lines[0].strip(" :") if lines else ""
            _known[key] = FlopsUnknown(f"Numba compiles no {function.__name__}: {reason}")
        else:
            operations = {block: [*_operations(program, block)] for block in program.blocks}
            _known[key] = program, operations
    known = _known[key]
    if isinstance(known, FlopsUnknown):
        raise known
    return known


def _operations(program: TypedKernel, block: int) -> Iterator[tuple[int, object, int]]:
    """(line, dtype, operations) of a block; a call of a device function has (function, types) for dtype."""
    creep = ImplicitFloat64(program)
    for statement in program.blocks[block].body:
        value = getattr(statement, "value", None)
        signature = program.signatures.get(value) if isinstance(value, ir.Expr) else None
        if signature is None or not isinstance(statement, ir.Assign):
            continue
        line = statement.loc.line
        result_type = signature.return_type
        is_narrow = creep.narrowed(statement) and result_type == types.float64
        dtype = "float32" if is_narrow else str(result_type)
        called = program.types.get(value.func.name) if value.op == "call" else None
        if isinstance(called, types.Dispatcher):
            yield line, (called.dispatcher.py_func, signature.args), 1
        elif isinstance(result_type, types.Float):
            for kind, number in _counted(value, called, dtype):
                yield line, kind, number


def _counted(value: ir.Expr, called: types.Type | None, dtype: str) -> Iterator[tuple[str, int]]:
    functions = f"{dtype} functions"
    if value.op in ("binop", "inplace_binop"):
        yield dtype if value.fn in ARITHMETIC else functions, 1
    elif isinstance(called, types.Function):
        function = called.typing_key
        name = getattr(function, "__name__", "")
        module = getattr(function, "__module__", "")
        if name in OPERATIONS_OF:
            yield dtype, OPERATIONS_OF[name]
        elif module == "math" and name not in FREE:
            yield functions, 1
