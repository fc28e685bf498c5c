"""Optimisations of the order: along diagonals, in streams, and as one launch of the whole plan.

The whole network stage of Appleyard, Kočiský and Blunsom (2016): step t of layer l needs step t−1 of its own
layer and step t of the layer below, so all cells of a diagonal t + l may run at once.
"""

import heapq
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from graphlib import TopologicalSorter

from rnnlab.schedule.hazards import check_order, dependencies
from rnnlab.schedule.plan import Operation, Plan


def wavefront(plan: Plan) -> Plan:
    """Issue the cells of a diagonal after those of the diagonal before it, as far as dependencies allow."""
    sorter = TopologicalSorter(dict(enumerate(dependencies(plan))))
    ready = []
    order = []
    sorter.prepare()
    while sorter.is_active():
        for index in sorter.get_ready():
            diagonal = _diagonal(plan, plan.operations[index])
            heapq.heappush(ready, (diagonal, index))
        _, index = heapq.heappop(ready)
        order.append(index)
        sorter.done(index)
    # sorted by its dependencies, so there is no hazard to check
    return plan.after("wavefront", [plan.operations[index] for index in order])


def reorder(plan: Plan, order: Sequence[int]) -> Plan:
    """The plan in another order of issue.  Raises ValueError, naming the hazard, if the order breaks one."""
    check_order(plan, order)
    return plan.after("reorder", [plan.operations[index] for index in order])


def assign_streams(plan: Plan, per_layer: int = 2, layers_apart: bool = True) -> Plan:
    """A stream for each layer's recurrence, and with per_layer=2 a second one for what need not be in it.

    The second stream has the products with the inputs and those of the weight gradient.  With
    layers_apart=False all layers share these streams, so that they run one after another.
    Raises ValueError if per_layer is neither 1 nor 2.
    """
    if per_layer not in (1, 2):
        raise ValueError(f"per_layer is {per_layer}: 1 stream a layer, or 2")
    operations = []
    for operation in plan.operations:
        first_stream = per_layer * operation.layer if layers_apart else 0
        is_second = per_layer == 2 and operation.is_off_the_recurrence
        operations.append(operation._replace(stream=first_stream + is_second))
    shared = "" if layers_apart else " in all"
    return plan.after(f"assign_streams({per_layer}{shared})", operations)


# that layers overlap is the gain of the third stage, not of the first two
two_streams = partial(assign_streams, layers_apart=False)


def capture(plan: Plan) -> Plan:
    """Record all launches once, as a CUDA graph, and launch that."""
    return replace(plan, captured=True, history=(*plan.history, "capture"))


def events(plan: Plan) -> list[tuple[int, int]]:
    """(recorded after, waited for before): the fewest events, in issue order, that order all hazards.

    Each stream keeps a clock of how many operations have certainly finished in every stream; a dependency
    that the clock already implies needs no event.
    """
    streams = 1 + max((operation.stream for operation in plan.operations), default=0)
    clocks = [[0] * streams for _ in range(streams)]
    issued = [0] * streams
    place = []
    finished = []
    result = []
    for index, waits in enumerate(dependencies(plan)):
        stream = plan.operations[index].stream
        clock = clocks[stream]
        for earlier in reversed(waits):
            source = plan.operations[earlier].stream
            if source != stream and clock[source] < place[earlier]:
                result.append((earlier, index))
                clock[:] = map(max, clock, finished[earlier])
        issued[stream] += 1
        clock[stream] = issued[stream]
        place.append(issued[stream])
        finished.append(clock.copy())
    return result


def _diagonal(plan: Plan, operation: Operation) -> int:
    first_step, _ = operation.steps
    if plan.direction == "forward":
        return first_step + operation.layer
    steps_left = plan.sizes.T - first_step
    layers_left = plan.sizes.L - operation.layer
    return steps_left + layers_left
