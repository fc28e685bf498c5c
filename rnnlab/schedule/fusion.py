"""Fusion of two or more operations into one: products that share a factor, sums, pointwise chains.

A pass over plans only chooses groups; here is decided whether a group can become one operation, and which.
Products and sums join where their regions of one buffer are adjacent.
"""

from collections.abc import Iterable
from itertools import pairwise

from rnnlab.schedule.plan import Operation, Plan, Region, Span

ROWS, COLUMNS = "rows", "columns"


def adjacent(regions: Iterable[Region], axis: str) -> Region | None:
    """The region that adjacent regions, in any order, make up along `axis`; None if they are not adjacent."""
    regions, other = list(regions), ROWS if axis == COLUMNS else COLUMNS
    spans = sorted(getattr(region, axis) for region in regions)
    if len({(region.buffer, getattr(region, other)) for region in regions}) > 1:
        return None
    if any(a[1] != b[0] for a, b in pairwise(spans)):
        return None
    return regions[0]._replace(**{axis: (spans[0][0], spans[-1][1])})


def join(operations: list[Operation]) -> Operation | None:
    """One operation in place of several; None if there is none.  Pointwise operations: see `fuse`."""
    first = operations[0]
    if len(operations) == 1:
        return first
    if len({(operation.kind, operation.transposed, operation.layer) for operation in operations}) > 1:
        return None
    return _join_gemms(operations) if first.kind == "gemm" else _join_reduces(operations)


def _join_gemms(operations: list[Operation]) -> Operation | None:
    """Join along the columns of the result, along its rows, or along the inner size, whichever fits."""
    left, right = ([operation.reads[k] for operation in operations] for k in (0, 1))
    outs = [operation.writes[0] for operation in operations]
    transposed_a, transposed_b = operations[0].transposed
    m_axis, a_inner = (COLUMNS, ROWS) if transposed_a else (ROWS, COLUMNS)
    n_axis, b_inner = (ROWS, COLUMNS) if transposed_b else (COLUMNS, ROWS)
    same = lambda regions: all(region == regions[0] for region in regions)
    if same(left) and not same(right):
        return _joined(operations, (left[0], adjacent(right, n_axis)), adjacent(outs, COLUMNS))
    if same(right) and not same(left):
        return _joined(operations, (adjacent(left, m_axis), right[0]), adjacent(outs, ROWS))
    if same(outs):
        return _joined(operations, (adjacent(left, a_inner), adjacent(right, b_inner)), outs[0], True)
    return None


def _join_reduces(operations: list[Operation]) -> Operation | None:
    reads = [operation.reads[0] for operation in operations]
    outs = [operation.writes[0] for operation in operations]
    if len(set(outs)) == 1:
        return _joined(operations, (adjacent(reads, ROWS),), outs[0], True)
    return _joined(operations, (adjacent(reads, COLUMNS),), adjacent(outs, COLUMNS))


def _joined(operations, reads, write, sums_up: bool = False) -> Operation | None:
    """The joined operation; sums_up: all parts write the same region, and it accumulates if the first did."""
    adds = {operation.accumulates for operation in operations}
    if None in reads or write is None or (len(adds) > 1 and not sums_up):
        return None
    first = operations[0]
    return Operation(
        first.kind, reads, (write,), first.layer, span_of(operations), first.transposed, adds == {True}
    )


def fuse(plan: Plan, indexes: list[int], near: Iterable[int]) -> Operation:
    """One pointwise operation for several: what only they touch stays in registers.

    near: places of the operations of their layer and step, as in cells_of.
    """
    operations, inside = [plan.operations[k] for k in indexes], set(indexes)
    body = tuple(function for operation in operations for function in operation.body)
    computed, reads = {}, {}  # regions, in order
    for function in body:
        reads |= {region: None for region in function.reads if region not in computed}
        computed[function.write] = None
    needed = _read_elsewhere(plan, near, inside)
    writes = tuple(r for r in computed if r.buffer in plan.outputs or r.buffer in needed)
    return Operation("pointwise", tuple(reads), writes, operations[0].layer, span_of(operations), body=body)


def _read_elsewhere(plan: Plan, near: Iterable[int], inside: set[int]) -> set[str]:
    """Buffers that operations of the same layer and step read outside the group.

    A temporary buffer holds one step's values, so no other step reads them.
    """
    return {r.buffer for k in near if k not in inside for r in plan.operations[k].touches}


def cells_of(plan: Plan) -> dict[tuple[int, Span], list[int]]:
    """Places of the operations of each layer and step."""
    cells = {}
    for index, operation in enumerate(plan.operations):
        cells.setdefault((operation.layer, operation.steps), []).append(index)
    return cells


def span_of(operations: list[Operation]) -> Span:
    """The first step of all operations, and one past the last."""
    spans = [operation.steps for operation in operations]
    return min(first for first, _ in spans), max(last for _, last in spans)
