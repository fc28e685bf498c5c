"""Optimisations of when things run: an order along diagonals, streams, and one launch for the whole plan.

The whole network stage of Appleyard, Kočiský and Blunsom (2016): step t of layer l needs step t−1 of its own
layer and step t of the layer below, so all cells of a diagonal t + l may run at once.
"""

import heapq
from collections.abc import Sequence
from dataclasses import replace

from rnnlab.schedule.hazards import Hazard, check_order, dependencies, hazards
from rnnlab.schedule.plan import Operation, Plan

Clock = tuple[int, ...]  # for each stream, how many of its operations have certainly finished


def wavefront(plan: Plan) -> Plan:
    """Issue the cells of a diagonal after those of the diagonal before it, as far as they may be."""
    found = hazards(plan)
    return reorder(plan, _by_priority(plan, dependencies(plan, found)), "wavefront", found)


def reorder(
    plan: Plan, order: Sequence[int], name: str = "reorder", found: Sequence[Hazard] | None = None
) -> Plan:
    """The plan in another order of issue.  Raises ValueError, naming the hazard, if the order breaks one.

    found: hazards(plan), where they are known already.
    """
    check_order(plan, order, found)
    return plan.after(name, [plan.operations[index] for index in order])


def assign_streams(plan: Plan, per_layer: int = 2, layers_apart: bool = True) -> Plan:
    """A stream for each layer's recurrence, and with per_layer=2 one beside it for what need not be in it.

    Beside the recurrence stand the products with the inputs and those of the weight gradient.  With
    layers_apart=False all layers share these streams, so that they run one after another.
    """
    if per_layer not in (1, 2):
        raise ValueError(f"per_layer is {per_layer}: 1 stream a layer, or 2")
    beside = lambda each: per_layer == 2 and _is_beside(each)
    first = lambda each: per_layer * each.layer if layers_apart else 0
    operations = [replace(each, stream=first(each) + beside(each)) for each in plan.operations]
    return plan.after(f"assign_streams({per_layer}{'' if layers_apart else ' in all'})", operations)


def capture(plan: Plan) -> Plan:
    """Record all launches once, as a CUDA graph, and launch that."""
    return replace(plan, captured=True, history=(*plan.history, "capture"))


def events(plan: Plan) -> list[tuple[int, int]]:
    """(recorded after, waited for before): the fewest events, in issue order, that order all hazards.

    Each stream keeps a clock of what has certainly finished in every other; a wait that the clock already
    implies needs no event.
    """
    found, clocks, done, place = [], {}, [], []
    streams = 1 + max((each.stream for each in plan.operations), default=0)
    zero, issued = (0,) * streams, [0] * streams
    for index, (each, waits) in enumerate(zip(plan.operations, dependencies(plan), strict=True)):
        clock = clocks.get(each.stream, zero)
        for earlier in reversed(waits):
            source = plan.operations[earlier].stream
            if source != each.stream and clock[source] < place[earlier]:
                found.append((earlier, index))
                clock = later_of(clock, done[earlier])
        issued[each.stream] += 1
        place.append(issued[each.stream])
        clock = (*clock[: each.stream], issued[each.stream], *clock[each.stream + 1 :])
        clocks[each.stream] = clock
        done.append(clock)
    return found


def later_of(a: Clock, b: Clock) -> Clock:
    return tuple(map(max, a, b))


def _by_priority(plan: Plan, waits: Sequence[tuple[int, ...]]) -> list[int]:
    """Topological order that prefers early diagonals, and in a diagonal the plan's own order."""
    missing, readers = [len(each) for each in waits], [[] for _ in waits]
    for index, each in enumerate(waits):
        for earlier in each:
            readers[earlier].append(index)
    ready = [(_diagonal(plan, plan.operations[k]), k) for k, count in enumerate(missing) if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        _, index = heapq.heappop(ready)
        order.append(index)
        for later in readers[index]:
            missing[later] -= 1
            if missing[later] == 0:
                heapq.heappush(ready, (_diagonal(plan, plan.operations[later]), later))
    return order


def _diagonal(plan: Plan, each: Operation) -> int:
    if plan.direction == "forward":
        return each.steps[0] + each.layer
    return (plan.sizes.T - each.steps[0]) + (plan.sizes.L - each.layer)


def _is_beside(each: Operation) -> bool:
    """Does no later step of its layer wait for it?"""
    inputs = each.kind == "gemm" and each.reads[1].buffer.startswith("weight_ih")
    gradient = each.writes[0].buffer.startswith(("dweight", "dbias", "dinner_bias"))
    return inputs or gradient
