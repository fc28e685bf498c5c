"""Optimisations of what is launched: each takes a plan and returns one that computes the same with less.

Appleyard, Kočiský and Blunsom's (2016) single cell (group_gates, fuse_pointwise) and single layer
(transpose_once, batch_inputs, weight_gradient_after_loop); what is left, the order and the streams of the
whole network, is in order.py.  A pass chooses groups of operations and the place where each group runs;
`regroup` refuses a choice under which someone would read or overwrite too early.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import itemgetter

import numpy as np

from rnnlab.schedule.hazards import describe, first_broken, places, take_along
from rnnlab.schedule.joining import cells_of, fuse, join
from rnnlab.schedule.plan import Elementary, Operation, Plan, Region, overlap

Groups = list[list[int]]  # places in the old plan, in the order of the new one


def group_gates(plan: Plan) -> Plan:
    """The products of a step that share a factor become one, G·H rows tall; so do sums of products."""
    if plan.direction == "backward":
        plan = _add_in_the_product(plan)
    return _join_alike(plan, "group_gates", key=lambda each: (each.layer, each.steps), at_first=False)


def fuse_pointwise(plan: Plan) -> Plan:
    """Pointwise operations of a step that need not wait for anything between them become one launch."""
    groups, cells = [], cells_of(plan)
    for indexes in cells.values():
        groups += _pointwise_runs(plan, indexes)

    def fused(plan: Plan, group: list[int]) -> Operation:
        first = plan.operations[group[0]]
        return fuse(plan, group, near=cells[first.layer, first.steps])

    return regroup(plan, "fuse_pointwise", sorted(groups, key=lambda group: group[0]), fused)


def batch_inputs(plan: Plan, steps: int = 0) -> Plan:
    """Input products of `steps` steps (0: of all) become one; on the way back, products that give dx."""
    if steps < 0:
        raise ValueError(f"steps is {steps}: batch 1 step or more, or 0 for the whole sequence")
    chunk = steps or plan.sizes.T
    first = plan.direction == "forward"
    key = lambda each: (each.layer, each.steps[0] // chunk) if _is_input_product(each) else None
    return _join_alike(plan, f"batch_inputs({steps or 'T'})", key, at_first=first)


batch_two_inputs = partial(batch_inputs, steps=2)


def weight_gradient_after_loop(plan: Plan) -> Plan:
    """Gradients of weights and biases: one product, one sum, over all steps, after the last dgates."""
    key = lambda each: (each.layer,) if _is_weight_gradient(each) else None
    return _join_alike(plan, "weight_gradient_after_loop", key, at_first=False)


def transpose_once(plan: Plan) -> Plan:
    """Weights that every product reads transposed are transposed before the first: NN products, not TN."""
    turned, operations = {}, []
    for each in plan.operations:
        if each.kind == "gemm" and each.transposed == (False, True):
            weights = each.reads[1]
            turned.setdefault((weights.buffer, each.layer), None)
            each = each._replace(reads=(each.reads[0], _turned(weights)), transposed=(False, False))
        operations.append(each)
    buffers, first = dict(plan.buffers), []
    for name, layer in turned:
        rows, columns = plan.buffers[name]
        whole = Region(name, (0, rows), (0, columns))
        buffers[_turned(whole).buffer] = (columns, rows)
        first.append(Operation("transpose", (whole,), (_turned(whole),), layer, (0, 1)))
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
    for index, each in enumerate(plan.operations):
        if each.kind in ("gemm", "reduce") and (mine := key(each)) is not None:
            alike[mine, each.kind, each.transposed, _meeting_point(each)].append(index)
    made = {}  # first member -> the group, and the operation that it becomes
    for indexes in alike.values():
        made |= {group[0]: (group, joined) for group, joined in _joinable(plan, indexes)}
    if not made:
        return plan.after(name, plan.operations)  # as it was, so there is nothing to refuse
    taken = set(chain.from_iterable(group for group, _ in made.values()))
    groups = [group for group, _ in made.values()]
    groups += [[index] for index in range(len(plan.operations)) if index not in taken]
    groups.sort(key=itemgetter(0 if at_first else -1))
    joined = regroup(plan, name, groups, lambda _, group: made[group[0]][1])
    return take_along(plan, joined, _places(groups))


def _places(groups: Groups) -> np.ndarray:
    """For each operation of the old plan the place of its group."""
    where = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return where[places(list(chain.from_iterable(groups)))]


def _meeting_point(each: Operation) -> Hashable:
    """What operations must share to be joined: the buffers they touch, and the factor that is the same."""
    return tuple(region.buffer for region in each.reads + each.writes)


def _joinable(plan: Plan, indexes: list[int]) -> list[tuple[list[int], Operation]]:
    """Groups that can be joined, as few as there can be, and what each becomes: all, or those that share a
    region, or none."""
    if len(indexes) == 1:
        return []
    operations = [plan.operations[k] for k in indexes]
    if (joined := join(operations)) is not None:
        return [(indexes, joined)]
    for shared in (lambda each: each.writes[0], lambda each: each.reads[-1], lambda each: each.reads[0]):
        parts = defaultdict(list)
        for index, each in zip(indexes, operations, strict=True):
            parts[shared(each)].append(index)
        groups = list(parts.values())
        if 1 < len(groups) < len(indexes):
            found = [(group, join([plan.operations[k] for k in group])) for group in groups]
            if all(joined for _, joined in found):
                return found
    return []


def _pointwise_runs(plan: Plan, indexes: list[int]) -> Groups:
    """Each pointwise operation joins the latest group that it may be moved up to; others stand alone."""
    groups, latest = [], None
    for index in indexes:
        each = plan.operations[index]
        if each.kind != "pointwise":
            groups.append([index])
        elif latest is not None and _may_move_up(
            plan, each, [k for k in indexes if latest[0] < k < index], latest
        ):
            latest.append(index)
        else:
            latest = [index]
            groups.append(latest)
    return groups


def _may_move_up(plan: Plan, each: Operation, between: list[int], group: list[int]) -> bool:
    passed = [plan.operations[k] for k in between if k not in group]
    same_size = plan.operations[group[0]].writes[0].shape == each.writes[0].shape
    return same_size and not any(_conflict(other, each) for other in passed)


def _conflict(earlier: Operation, later: Operation) -> bool:
    meets = lambda some, others: any(overlap(a, b) for a in some for b in others)
    return meets(earlier.writes, later.touches + later.writes) or meets(earlier.touches, later.writes)


def _is_input_product(each: Operation) -> bool:
    return each.kind == "gemm" and each.reads[1].buffer.startswith("weight_ih")


def _is_weight_gradient(each: Operation) -> bool:
    return each.writes[0].buffer.startswith(("dweight", "dbias", "dinner_bias"))


def _turned(region: Region) -> Region:
    return Region(f"{region.buffer}ᵀ", region.columns, region.rows)


def _add_in_the_product(plan: Plan) -> Plan:
    """Gradients that meet in a sum: the products add to where it writes, β = 1, which costs no launch.

    What is no product is summed first, and makes the place that they add to.
    """
    operations = []
    for indexes in cells_of(plan).values():
        cell = [plan.operations[k] for k in indexes]
        for total in [each for each in cell if _is_sum(each)]:
            cell = _opened(cell, total)
        operations += cell
    return replace(plan, operations=tuple(operations))


def _opened(cell: list[Operation], total: Operation) -> list[Operation]:
    """The operations of a step with one sum opened up, if products are among its terms."""
    (write,) = total.writes
    products = [each for each in cell if each.kind == "gemm" and each.writes[0] in total.reads]
    if not products:
        return cell
    made = {each.writes[0] for each in products}
    rest = tuple(region for region in total.reads if region not in made)
    adding = [
        each._replace(writes=(write,), accumulates=bool(rest) or k > 0) for k, each in enumerate(products)
    ]
    cell = [each for each in cell if each not in products]
    if len(rest) == 1:
        cell = [_writing(each, rest[0], write) for each in cell]
    elif rest:
        adding.insert(0, total._replace(reads=rest, body=(Elementary("sum", rest, write),)))
    at = next(k for k, each in enumerate(cell) if each is total)
    return cell[:at] + adding + cell[at + 1 :]


def _writing(each: Operation, old: Region, new: Region) -> Operation:
    """The operation with its result in another place."""
    if each.writes != (old,):
        return each
    return each._replace(writes=(new,), body=tuple(part._replace(write=new) for part in each.body))


def _is_sum(each: Operation) -> bool:
    return each.kind == "pointwise" and len(each.body) == 1 and each.body[0].rule == "sum"
