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
from itertools import chain, pairwise, product
from operator import itemgetter

from rnnlab.schedule.hazards import describe, first_broken
from rnnlab.schedule.plan import Elementary, Operation, Plan, Region, Span, overlap

Groups = list[list[int]]  # places in the old plan, in the order of the new one


def group_gates(plan: Plan) -> Plan:
    """The products of a step that share a factor become one, G·H rows tall; so do sums of products."""
    if plan.direction == "backward":
        plan = _add_in_the_product(plan)

    def key(operation):
        return operation.layer, operation.steps

    return _join_alike(plan, "group_gates", key, at_first=False)


def fuse_pointwise(plan: Plan) -> Plan:
    """Pointwise operations of a step that need not wait for anything between them become one launch."""
    groups = []
    cells = cells_of(plan)
    for indexes in cells.values():
        groups += _pointwise_runs(plan, indexes)
    groups.sort(key=itemgetter(0))

    def fused(plan: Plan, group: list[int]) -> Operation:
        first = plan.operations[group[0]]
        return fuse(plan, group, near=cells[first.layer, first.steps])

    return regroup(plan, "fuse_pointwise", groups, fused)


def batch_inputs(plan: Plan, steps: int = 0) -> Plan:
    """Input products of `steps` steps (0: of all) become one; in the backward pass, products that give dx.

    Raises ValueError if steps is negative.
    """
    if steps < 0:
        raise ValueError(f"steps is {steps}: batch 1 step or more, or 0 for the whole sequence")
    chunk = steps or plan.sizes.T
    is_forward = plan.direction == "forward"

    def key(operation):
        if not operation.is_input_product:
            return None
        first_step, _ = operation.steps
        return operation.layer, first_step // chunk

    return _join_alike(plan, f"batch_inputs({steps or 'T'})", key, at_first=is_forward)


batch_two_inputs = partial(batch_inputs, steps=2)


def weight_gradient_after_loop(plan: Plan) -> Plan:
    """Gradients of weights and biases: one product, one sum, over all steps, after the last dgates."""

    def key(operation):
        return (operation.layer,) if operation.is_weight_gradient else None

    return _join_alike(plan, "weight_gradient_after_loop", key, at_first=False)


def transpose_once(plan: Plan) -> Plan:
    """Weights that every product reads transposed are transposed before the first: NN products, not TN."""
    read_transposed = {}  # (buffer, layer) of the weights, in order
    operations = []
    for operation in plan.operations:
        if operation.kind == "gemm" and operation.transposed == (False, True):
            factor, weights = operation.reads
            read_transposed[weights.buffer, operation.layer] = None
            reads = (factor, _transposed(weights))
            operation = operation._replace(reads=reads, transposed=(False, False))
        operations.append(operation)
    buffers = dict(plan.buffers)
    transposes = []
    for name, layer in read_transposed:
        rows, columns = plan.buffers[name]
        weights = Region(name, (0, rows), (0, columns))
        result = _transposed(weights)
        buffers[result.buffer] = (columns, rows)
        transposes.append(Operation("transpose", (weights,), (result,), layer, (0, 1)))
    return plan.after("transpose_once", transposes + operations, buffers=buffers)


def regroup(plan: Plan, name: str, groups: Groups, merge: Callable[[Plan, list[int]], Operation]) -> Plan:
    """The plan with each group as one operation.  Raises ValueError, naming a hazard that would break."""
    if broken := first_broken(plan, _places(groups)):
        raise ValueError(f"{name}: {describe(plan, broken)}")
    operations = []
    for group in groups:
        is_alone = len(group) == 1
        operations.append(plan.operations[group[0]] if is_alone else merge(plan, group))
    return plan.after(name, operations)


def _join_alike(plan: Plan, name: str, key: Callable[[Operation], Hashable | None], at_first: bool) -> Plan:
    """Join operations of equal key where `join` can, at the place of their first or their last member."""
    alike = defaultdict(list)
    for index, operation in enumerate(plan.operations):
        if operation.kind not in ("gemm", "reduce"):
            continue
        value = key(operation)
        if value is not None:
            buffers = tuple(region.buffer for region in operation.reads + operation.writes)
            alike[value, operation.kind, operation.transposed, buffers].append(index)
    groups = []
    joined = {}  # first member -> the operation that its group becomes
    for indexes in alike.values():
        for group, operation in _joinable(plan, indexes):
            groups.append(group)
            joined[group[0]] = operation
    if not joined:
        return plan.after(name, plan.operations)  # as it was, so there is nothing to refuse
    members = {*chain.from_iterable(groups)}
    groups += [[index] for index in range(len(plan.operations)) if index not in members]
    place = 0 if at_first else -1
    groups.sort(key=itemgetter(place))
    return regroup(plan, name, groups, lambda _, group: joined[group[0]])


def _places(groups: Groups) -> list[int]:
    """The place of its group for each operation of the old plan."""
    place = {}
    for k, group in enumerate(groups):
        place |= dict.fromkeys(group, k)
    return [place[index] for index in range(len(place))]


def _joinable(plan: Plan, indexes: list[int]) -> list[tuple[list[int], Operation]]:
    """The fewest groups that can be joined, with their operations: all, or those that share a region."""
    if len(indexes) == 1:
        return []
    operations = [plan.operations[k] for k in indexes]
    if (joined := join(operations)) is not None:
        return [(indexes, joined)]
    for field, place in (("writes", 0), ("reads", -1), ("reads", 0)):
        sharing = defaultdict(list)  # region -> places of the operations that write it, or read it
        for index, operation in zip(indexes, operations, strict=True):
            region = getattr(operation, field)[place]
            sharing[region].append(index)
        groups = list(sharing.values())
        if 1 < len(groups) < len(indexes):
            joined = []
            for group in groups:
                members = [plan.operations[k] for k in group]
                joined.append(join(members))
            if all(joined):
                return list(zip(groups, joined, strict=True))
    return []


def _pointwise_runs(plan: Plan, indexes: list[int]) -> Groups:
    """Groups: a pointwise operation joins the latest one that it may be moved up to; others stand alone."""
    groups = []
    latest = None
    for index in indexes:
        if plan.operations[index].kind != "pointwise":
            groups.append([index])
        elif latest is not None and _may_move_up(plan, indexes, index, latest):
            latest.append(index)
        else:
            latest = [index]
            groups.append(latest)
    return groups


def _may_move_up(plan: Plan, indexes: list[int], index: int, group: list[int]) -> bool:
    """Does the operation at `index` conflict with none between it and the group, and have the same size?"""
    operation = plan.operations[index]
    first = plan.operations[group[0]]
    if first.writes[0].shape != operation.writes[0].shape:
        return False
    between = [k for k in indexes if group[0] < k < index]
    others = [plan.operations[k] for k in between if k not in group]
    return not any(_conflict(other, operation) for other in others)


def _conflict(earlier: Operation, later: Operation) -> bool:
    """Does one operation write what the other touches?"""
    written_then_touched = product(earlier.writes, later.touches + later.writes)
    read_then_written = product(earlier.touches, later.writes)
    pairs = chain(written_then_touched, read_then_written)
    return any(overlap(a, b) for a, b in pairs)


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
            rules = [part.rule for part in operation.body]
            if rules == ["sum"]:
                cell = _opened(cell, operation)
        operations += cell
    return replace(plan, operations=tuple(operations))


def _opened(cell: list[Operation], total: Operation) -> list[Operation]:
    """The operations of a step with one sum opened up, if products are among its terms."""
    (write,) = total.writes
    products = []
    others = []
    for operation in cell:
        if operation.kind == "gemm" and operation.writes[0] in total.reads:
            products.append(operation)
        else:
            others.append(operation)
    if not products:
        return cell
    results = {gemm.writes[0] for gemm in products}
    rest = tuple(region for region in total.reads if region not in results)
    adding = []
    for gemm in products:
        accumulates = bool(rest or adding)  # else it is the first value there
        adding.append(gemm._replace(writes=(write,), accumulates=accumulates))
    readers = [operation for operation in others if not set(rest).isdisjoint(operation.reads)]
    if len(rest) == 1 and readers == [total]:
        others = [_writing(operation, rest[0], write) for operation in others]
    elif rest:
        addition = Elementary("sum", rest, write)
        adding.insert(0, total._replace(reads=rest, body=(addition,)))
    place = next(k for k, operation in enumerate(others) if operation is total)
    others[place : place + 1] = adding
    return others


def _writing(operation: Operation, old: Region, new: Region) -> Operation:
    """The operation with its result in another place."""
    if operation.writes != (old,):
        return operation
    body = tuple(part._replace(write=new) for part in operation.body)
    return operation._replace(writes=(new,), body=body)


ROWS = "rows"
COLUMNS = "columns"


def adjacent(regions: Iterable[Region], axis: str) -> Region | None:
    """The region that adjacent regions, in any order, make up along `axis`; None if they are not adjacent."""
    regions = list(regions)
    other = ROWS if axis == COLUMNS else COLUMNS
    strips = {(region.buffer, getattr(region, other)) for region in regions}
    if len(strips) > 1:
        return None
    spans = sorted(getattr(region, axis) for region in regions)
    has_gap = [end != next_start for (_, end), (next_start, _) in pairwise(spans)]
    if any(has_gap):
        return None
    start, _ = spans[0]
    _, end = spans[-1]
    return regions[0]._replace(**{axis: (start, end)})


def join(operations: list[Operation]) -> Operation | None:
    """One operation in place of several; None if there is none.  Pointwise operations: see `fuse`."""
    first = operations[0]
    if len(operations) == 1:
        return first
    kinds = {(operation.kind, operation.transposed, operation.layer) for operation in operations}
    if len(kinds) > 1:
        return None
    return _join_gemms(operations) if first.kind == "gemm" else _join_reduces(operations)


def _join_gemms(operations: list[Operation]) -> Operation | None:
    """Join along the columns of the result, along its rows, or along the inner size, whichever fits."""
    left = [operation.reads[0] for operation in operations]
    right = [operation.reads[1] for operation in operations]
    results = [operation.writes[0] for operation in operations]
    transposed_a, transposed_b = operations[0].transposed
    m_axis, a_inner = (COLUMNS, ROWS) if transposed_a else (ROWS, COLUMNS)
    n_axis, b_inner = (ROWS, COLUMNS) if transposed_b else (COLUMNS, ROWS)
    same_left = len(set(left)) == 1
    same_right = len(set(right)) == 1
    if same_left and not same_right:
        reads = (left[0], adjacent(right, n_axis))
        return _joined(operations, reads, adjacent(results, COLUMNS))
    if same_right and not same_left:
        reads = (adjacent(left, m_axis), right[0])
        return _joined(operations, reads, adjacent(results, ROWS))
    if len(set(results)) == 1:
        reads = (adjacent(left, a_inner), adjacent(right, b_inner))
        return _joined(operations, reads, results[0], sums_up=True)
    return None


def _join_reduces(operations: list[Operation]) -> Operation | None:
    summed = [operation.reads[0] for operation in operations]
    results = [operation.writes[0] for operation in operations]
    if len(set(results)) == 1:
        return _joined(operations, (adjacent(summed, ROWS),), results[0], sums_up=True)
    return _joined(operations, (adjacent(summed, COLUMNS),), adjacent(results, COLUMNS))


def _joined(operations, reads, write, sums_up: bool = False) -> Operation | None:
    """The joined operation; sums_up: all parts write the same region, and it accumulates if the first did."""
    accumulates = {operation.accumulates for operation in operations}
    is_mixed = len(accumulates) > 1
    if None in (*reads, write) or (is_mixed and not sums_up):
        return None
    first = operations[0]
    steps = span_of(operations)
    adds = all(accumulates)
    return Operation(first.kind, reads, (write,), first.layer, steps, first.transposed, adds)


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
    needed = plan.outputs | _read_elsewhere(plan, near, inside)
    writes = tuple(region for region in computed if region.buffer in needed)
    layer = operations[0].layer
    return Operation("pointwise", tuple(reads), writes, layer, span_of(operations), body=body)


def _read_elsewhere(plan: Plan, near: Iterable[int], inside: set[int]) -> set[str]:
    """Buffers that operations of the same layer and step read outside the group.

    A temporary buffer holds one step's values, so no other step reads them.
    """
    buffers = set()
    for index in near:
        if index not in inside:
            buffers |= {region.buffer for region in plan.operations[index].touches}
    return buffers


def cells_of(plan: Plan) -> dict[tuple[int, Span], list[int]]:
    """Places of the operations of each layer and step."""
    cells = {}
    for index, operation in enumerate(plan.operations):
        cells.setdefault((operation.layer, operation.steps), []).append(index)
    return cells


def span_of(operations: list[Operation]) -> Span:
    """The first step of all operations, and one past the last."""
    starts, ends = zip(*(operation.steps for operation in operations), strict=True)
    return min(starts), max(ends)
