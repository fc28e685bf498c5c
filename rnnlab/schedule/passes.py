"""Optimisations of what is launched: each takes a plan and returns one that computes the same with less.

Appleyard, Kočiský and Blunsom's (2016) single cell (group_gates, fuse_pointwise) and single layer
(transpose_once, batch_inputs, weight_gradient_after_loop); what is left, the order and the streams of the
whole network, is in order.py.  A pass chooses groups of operations and the place where each group runs;
`regroup` refuses a choice under which an operation would read or overwrite too early.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from operator import itemgetter

from rnnlab.schedule.hazards import describe, first_broken
from rnnlab.schedule.plan import Elementary, Operation, Plan, Region, Span, overlap

Groups = list[list[int]]  # places in the old plan, in the order of the new one


def group_gates(plan: Plan) -> Plan:
    """The products of a step that share a factor become one, G·H rows tall; so do sums of products."""
    if plan.direction == "backward":
        plan = _add_in_the_product(plan)
    key = lambda operation: (operation.layer, operation.steps)
    return _join_alike(plan, "group_gates", key, at_first=False)


def fuse_pointwise(plan: Plan) -> Plan:
    """Pointwise operations of a step that need not wait for anything between them become one launch."""
    groups = []
    cells = cells_of(plan)
    for indexes in cells.values():
        groups += _pointwise_runs(plan, indexes)

    def fused(plan: Plan, group: list[int]) -> Operation:
        first = plan.operations[group[0]]
        return fuse(plan, group, near=cells[first.layer, first.steps])

    return regroup(plan, "fuse_pointwise", sorted(groups, key=lambda group: group[0]), fused)


def batch_inputs(plan: Plan, steps: int = 0) -> Plan:
    """Input products of `steps` steps (0: of all) become one; in the backward pass, products that give dx.

    Raises ValueError if steps is negative.
    """
    if steps < 0:
        raise ValueError(f"steps is {steps}: batch 1 step or more, or 0 for the whole sequence")
    chunk = steps or plan.sizes.T
    first = plan.direction == "forward"

    def key(operation):
        return (operation.layer, operation.steps[0] // chunk) if operation.is_input_product else None

    return _join_alike(plan, f"batch_inputs({steps or 'T'})", key, at_first=first)


batch_two_inputs = partial(batch_inputs, steps=2)


def weight_gradient_after_loop(plan: Plan) -> Plan:
    """Gradients of weights and biases: one product, one sum, over all steps, after the last dgates."""

    def key(operation):
        return (operation.layer,) if operation.is_weight_gradient else None

    return _join_alike(plan, "weight_gradient_after_loop", key, at_first=False)


def transpose_once(plan: Plan) -> Plan:
    """Weights that every product reads transposed are transposed before the first: NN products, not TN."""
    read_transposed = {}
    operations = []  # (buffer, layer) of the weights, in order
    for operation in plan.operations:
        if operation.kind == "gemm" and operation.transposed == (False, True):
            factor, weights = operation.reads
            read_transposed.setdefault((weights.buffer, operation.layer), None)
            operation = operation._replace(reads=(factor, _transposed(weights)), transposed=(False, False))
        operations.append(operation)
    buffers = dict(plan.buffers)
    first = []
    for name, layer in read_transposed:
        rows, columns = plan.buffers[name]
        whole = Region(name, (0, rows), (0, columns))
        buffers[_transposed(whole).buffer] = (columns, rows)
        first.append(Operation("transpose", (whole,), (_transposed(whole),), layer, (0, 1)))
    return plan.after("transpose_once", first + operations, buffers=buffers)


def regroup(plan: Plan, name: str, groups: Groups, merge: Callable[[Plan, list[int]], Operation]) -> Plan:
    """The plan with each group as one operation.  Raises ValueError, naming a hazard that would break."""
    if broken := first_broken(plan, _places(groups)):
        raise ValueError(f"{name}: {describe(plan, broken)}")
    merged = [merge(plan, group) if len(group) > 1 else plan.operations[group[0]] for group in groups]
    return plan.after(name, merged)


def _join_alike(plan: Plan, name: str, key: Callable[[Operation], Hashable | None], at_first: bool) -> Plan:
    """Join operations of equal key where `join` can, at the place of their first or their last member."""
    alike = defaultdict(list)
    for index, operation in enumerate(plan.operations):
        if operation.kind in ("gemm", "reduce") and (value := key(operation)) is not None:
            buffers = tuple(region.buffer for region in operation.reads + operation.writes)
            alike[value, operation.kind, operation.transposed, buffers].append(index)
    joined = {}  # first member -> the group, and the operation that it becomes
    for indexes in alike.values():
        joined |= {group[0]: (group, operation) for group, operation in _joinable(plan, indexes)}
    if not joined:
        return plan.after(name, plan.operations)  # as it was, so there is nothing to refuse
    members = set(chain.from_iterable(group for group, _ in joined.values()))
    groups = [group for group, _ in joined.values()]
    groups += [[index] for index in range(len(plan.operations)) if index not in members]
    groups.sort(key=itemgetter(0 if at_first else -1))
    return regroup(plan, name, groups, lambda _, group: joined[group[0]][1])


def _places(groups: Groups) -> list[int]:
    """The place of its group for each operation of the old plan."""
    place = {index: k for k, group in enumerate(groups) for index in group}
    return [place[index] for index in range(len(place))]


def _joinable(plan: Plan, indexes: list[int]) -> list[tuple[list[int], Operation]]:
    """The fewest groups that can be joined, with their operations: all, or those that share a region."""
    if len(indexes) == 1:
        return []
    operations = [plan.operations[k] for k in indexes]
    if (joined := join(operations)) is not None:
        return [(indexes, joined)]
    for shared in (lambda o: o.writes[0], lambda o: o.reads[-1], lambda o: o.reads[0]):
        parts = defaultdict(list)
        for index, operation in zip(indexes, operations, strict=True):
            parts[shared(operation)].append(index)
        groups = list(parts.values())
        if 1 < len(groups) < len(indexes):
            pairs = [(group, join([plan.operations[k] for k in group])) for group in groups]
            if all(joined for _, joined in pairs):
                return pairs
    return []


def _pointwise_runs(plan: Plan, indexes: list[int]) -> Groups:
    """Groups: a pointwise operation joins the latest one that it may be moved up to; others stand alone."""
    groups = []
    latest = None
    for index in indexes:
        operation = plan.operations[index]
        if operation.kind != "pointwise":
            groups.append([index])
        elif latest is not None and _may_move_up(
            plan, operation, [k for k in indexes if latest[0] < k < index], latest
        ):
            latest.append(index)
        else:
            latest = [index]
            groups.append(latest)
    return groups


def _may_move_up(plan: Plan, operation: Operation, between: list[int], group: list[int]) -> bool:
    others = [plan.operations[k] for k in between if k not in group]
    same_size = plan.operations[group[0]].writes[0].shape == operation.writes[0].shape
    return same_size and not any(_conflict(other, operation) for other in others)


def _conflict(earlier: Operation, later: Operation) -> bool:
    def share(regions, others):
        return any(overlap(a, b) for a in regions for b in others)

    return share(earlier.writes, later.touches + later.writes) or share(earlier.touches, later.writes)


def _transposed(region: Region) -> Region:
    return Region(f"{region.buffer}ᵀ", region.columns, region.rows)


def _add_in_the_product(plan: Plan) -> Plan:
    """Products that are terms of a sum accumulate into the sum's result (β = 1), which costs no launch.

    Terms that are not products are summed first, into the region that the products then add to.
    """
    operations = []
    for indexes in cells_of(plan).values():
        cell = [plan.operations[k] for k in indexes]
        for operation in cell:
            if operation.kind == "pointwise" and [part.rule for part in operation.body] == ["sum"]:
                cell = _opened(cell, operation)
        operations += cell
    return replace(plan, operations=tuple(operations))


def _opened(cell: list[Operation], total: Operation) -> list[Operation]:
    """The operations of a step with one sum opened up, if products are among its terms."""
    (write,) = total.writes
    products = [o for o in cell if o.kind == "gemm" and o.writes[0] in total.reads]
    if not products:
        return cell
    results = {product.writes[0] for product in products}
    rest = tuple(region for region in total.reads if region not in results)
    adding = [
        product._replace(writes=(write,), accumulates=bool(rest) or k > 0)
        for k, product in enumerate(products)
    ]
    cell = [operation for operation in cell if operation not in products]
    readers = [operation for operation in cell if set(rest) & set(operation.reads)]
    if len(rest) == 1 and readers == [total]:
        cell = [_writing(operation, rest[0], write) for operation in cell]
    elif rest:
        adding.insert(0, total._replace(reads=rest, body=(Elementary("sum", rest, write),)))
    at = next(k for k, operation in enumerate(cell) if operation is total)
    return cell[:at] + adding + cell[at + 1 :]


def _writing(operation: Operation, old: Region, new: Region) -> Operation:
    """The operation with its result in another place."""
    if operation.writes != (old,):
        return operation
    return operation._replace(writes=(new,), body=tuple(part._replace(write=new) for part in operation.body))


ROWS = "rows"
COLUMNS = "columns"


def adjacent(regions: Iterable[Region], axis: str) -> Region | None:
    """The region that adjacent regions, in any order, make up along `axis`; None if they are not adjacent."""
    regions = list(regions)
    other = ROWS if axis == COLUMNS else COLUMNS
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
    operations = [plan.operations[k] for k in indexes]
    inside = set(indexes)
    body = tuple(function for operation in operations for function in operation.body)
    computed = {}
    reads = {}  # regions, in order
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
