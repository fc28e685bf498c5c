"""Execution of a plan with NumPy: the proof that a pass over plans changed the order and not the numbers.

Operations run in the plan's order, or in any other; a pointwise operation loads what it reads,
works through its body in registers, and stores what it writes, as a kernel does.
"""

from collections.abc import Sequence

import numpy as np

from rnnlab.graphs.rules import RULES
from rnnlab.schedule.plan import Operation, Plan, Region

Arrays = dict[str, np.ndarray]


def allocate(plan: Plan, dtype: str, arrays: Arrays | None = None) -> Arrays:
    """An array [rows,columns] for every buffer that the plan uses: `arrays`, and NaN for all others."""
    arrays = dict(arrays or {})
    for name in plan.used - arrays.keys():
        arrays[name] = np.full(plan.buffers[name], np.nan, dtype)
    return arrays


def execute(plan: Plan, arrays: Arrays, order: Sequence[int] | None = None) -> None:
    """Run the operations in place on `arrays` [rows,columns], in `order` (default: the plan's), unchecked."""
    if order is None:
        order = range(len(plan.operations))
    for index in order:
        operation = plan.operations[index]
        RUN[operation.kind](operation, arrays)


def view(arrays: Arrays, region: Region) -> np.ndarray:
    """A view [rows,columns] of a region."""
    top, bottom = region.rows
    left, right = region.columns
    return arrays[region.buffer][top:bottom, left:right]


def _gemm(operation: Operation, arrays: Arrays) -> None:
    a, b = (view(arrays, region) for region in operation.reads)
    transposed_a, transposed_b = operation.transposed
    if transposed_a:
        a = a.T
    if transposed_b:
        b = b.T
    _store(operation, arrays, a @ b)


def _reduce(operation: Operation, arrays: Arrays) -> None:
    rows = view(arrays, operation.reads[0])
    _store(operation, arrays, rows.sum(0, keepdims=True))


def _transpose(operation: Operation, arrays: Arrays) -> None:
    matrix = view(arrays, operation.reads[0])
    _store(operation, arrays, matrix.T)


def _store(operation: Operation, arrays: Arrays, value: np.ndarray) -> None:
    target = view(arrays, operation.writes[0])
    target[...] = target + value if operation.accumulates else value


def _pointwise(operation: Operation, arrays: Arrays) -> None:
    registers = {region: view(arrays, region).copy() for region in operation.reads}
    for rule, reads, write in operation.body:
        operands = [registers[region] for region in reads]
        (registers[write],) = RULES[rule].run(operands, ())
    for region in operation.writes:
        target = view(arrays, region)
        target[...] = registers[region]


RUN = {"gemm": _gemm, "reduce": _reduce, "transpose": _transpose, "pointwise": _pointwise}
