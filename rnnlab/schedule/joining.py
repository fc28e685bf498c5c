"""Two or more operations as one: products that share a factor, sums over more rows, pointwise chains.

Everything a pass over plans does is choose groups; whether a group can become one operation, and which, is
said here.  What joins are regions of one buffer that lie side by side.
"""

from collections.abc import Iterable
from itertools import pairwise

from rnnlab.schedule.plan import Operation, Plan, Region, Span

ROWS, COLUMNS = "rows", "columns"


def side_by_side(regions: Iterable[Region], axis: str) -> Region | None:
    """The region that these make up along `axis`, given in any order; None if they do not."""
    regions, other = list(regions), ROWS if axis == COLUMNS else COLUMNS
    spans = sorted(getattr(region, axis) for region in regions)
    if len({(region.buffer, getattr(region, other)) for region in regions}) > 1:
        return None
    if any(a[1] != b[0] for a, b in pairwise(spans)):
        return None
    return regions[0]._replace(**{axis: (spans[0][0], spans[-1][1])})


def join(operations: list[Operation]) -> Operation | None:
    """One operation in their place, None if there is none; pointwise ones are joined by `fuse`."""
    first = operations[0]
    if len(operations) == 1:
        return first
    if len({(each.kind, each.transposed, each.layer) for each in operations}) > 1:
        return None
    return _join_gemms(operations) if first.kind == "gemm" else _join_reduces(operations)


def _join_gemms(operations: list[Operation]) -> Operation | None:
    """Along the columns of the result, along its rows, or along the inner size, whichever fits."""
    left, right = ([each.reads[k] for each in operations] for k in (0, 1))
    outs = [each.writes[0] for each in operations]
    flip_a, flip_b = operations[0].transposed
    m_axis, a_inner = (COLUMNS, ROWS) if flip_a else (ROWS, COLUMNS)
    n_axis, b_inner = (ROWS, COLUMNS) if flip_b else (COLUMNS, ROWS)
    same = lambda regions: all(region == regions[0] for region in regions)
    if same(left) and not same(right):
        return _joined(operations, (left[0], side_by_side(right, n_axis)), side_by_side(outs, COLUMNS))
    if same(right) and not same(left):
        return _joined(operations, (side_by_side(left, m_axis), right[0]), side_by_side(outs, ROWS))
    if same(outs):
        return _joined(operations, (side_by_side(left, a_inner), side_by_side(right, b_inner)), outs[0], True)
    return None


def _join_reduces(operations: list[Operation]) -> Operation | None:
    reads, outs = [each.reads[0] for each in operations], [each.writes[0] for each in operations]
    if len(set(outs)) == 1:
        return _joined(operations, (side_by_side(reads, ROWS),), outs[0], True)
    return _joined(operations, (side_by_side(reads, COLUMNS),), side_by_side(outs, COLUMNS))


def _joined(operations, reads, write, sums_up: bool = False) -> Operation | None:
    """`sums_up`: the parts went into one place; the whole adds to what stood there if the first did."""
    adds = {each.accumulates for each in operations}
    if None in reads or write is None or (len(adds) > 1 and not sums_up):
        return None
    first = operations[0]
    return Operation(
        first.kind, reads, (write,), first.layer, spanned(operations), first.transposed, adds == {True}
    )


def fuse(plan: Plan, indexes: list[int], near: Iterable[int]) -> Operation:
    """One pointwise operation for several: what only they touch stays in registers.

    near: places of the operations of their layer and step, as cells_of gives them.
    """
    operations, inside = [plan.operations[k] for k in indexes], set(indexes)
    body = tuple(each for operation in operations for each in operation.body)
    made, reads = {}, {}
    for each in body:
        reads |= {region: None for region in each.reads if region not in made}
        made[each.write] = None
    needed = _read_elsewhere(plan, near, inside)
    writes = tuple(r for r in made if r.buffer in plan.kept or r.buffer in needed)
    return Operation("pointwise", tuple(reads), writes, operations[0].layer, spanned(operations), body=body)


def _read_elsewhere(plan: Plan, near: Iterable[int], inside: set[int]) -> set[str]:
    """Buffers that operations of the same layer and step read outside the group.

    A buffer that nobody keeps holds one step's values, so no other step reads them.
    """
    return {r.buffer for k in near if k not in inside for r in plan.operations[k].touches}


def cells_of(plan: Plan) -> dict[tuple[int, Span], list[int]]:
    """Places of the operations of each layer and step."""
    cells = {}
    for index, operation in enumerate(plan.operations):
        cells.setdefault((operation.layer, operation.steps), []).append(index)
    return cells


def spanned(operations: list[Operation]) -> Span:
    return min(each.steps[0] for each in operations), max(each.steps[1] for each in operations)
