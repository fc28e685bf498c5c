"""Hazards, events and orders against slow loops over every number and every operation."""

import heapq
from collections import defaultdict
from itertools import product

import pytest

from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.hazards import dependencies, hazards
from rnnlab.schedule.order import assign_streams, events, wavefront
from rnnlab.schedule.passes import (
    batch_two_inputs,
    fuse_pointwise,
    group_gates,
    transpose_once,
    weight_gradient_after_loop,
)
from rnnlab.schedule.plan import Plan, Region, Sizes, overlap
from rnnlab.schedule.stages import apply

CELLS = ["rnn_tanh", "gru_before", "gru_after", "lstm"]
BUILD = {"forward": forward_plan, "backward": backward_plan}
SWITCHES = (
    (group_gates,),
    (fuse_pointwise,),
    (transpose_once, batch_two_inputs),
    (weight_gradient_after_loop,),
    (wavefront, assign_streams),
)
EMPTY = Plan("lstm", Sizes(1, 1, 1, 1, 1), "forward", (), {}, frozenset())


def plans(cell, direction, sizes):
    """A plan under every combination of switches."""
    for on in product((False, True), repeat=len(SWITCHES)):
        passes = [entry for first, chosen in zip(SWITCHES, on, strict=True) if chosen for entry in first]
        yield apply(BUILD[direction](cell, sizes), passes)


def by_element(plan):
    """(earlier, later): of every number its latest writer and the readers since."""
    writer, readers = {}, defaultdict(set)
    for index, operation in enumerate(plan.operations):
        for number in numbers_of(operation.touches):
            yield from ((earlier, index) for earlier in writer.get(number, ()))
        for number in numbers_of(operation.writes):
            yield from ((earlier, index) for earlier in {*writer.get(number, ()), *readers[number]})
        for number in numbers_of(operation.writes):
            writer[number], readers[number] = (index,), set()
        for number in numbers_of(operation.reads):
            readers[number].add(index)


def numbers_of(regions):
    return {(r.buffer, i, j) for r in regions for i in range(*r.rows) for j in range(*r.columns)}


@pytest.mark.parametrize("direction", BUILD)
@pytest.mark.parametrize("cell", CELLS)
def test_the_hazards_are_those_of_every_single_number(cell, direction):
    for plan in plans(cell, direction, Sizes(3, 2, 2, 3, 2)):
        result = hazards(plan)
        pairs = [(their.later, their.earlier) for their in result]
        assert len(set(pairs)) == len(pairs)
        assert {(earlier, later) for later, earlier in pairs}.issuperset(by_element(plan))
        for kind, earlier, later, region in result:
            before, after = plan.operations[earlier], plan.operations[later]
            assert region in (before.touches if kind == "write after read" else before.writes)
            theirs = after.touches if kind == "read after write" else after.writes
            assert any(overlap(region, their) for their in theirs)


def events_one_by_one(plan):
    """Events as the function of that name has them, with a clock for each stream."""
    streams = 1 + max(operation.stream for operation in plan.operations)
    clocks, issued, place, done = defaultdict(lambda: [0] * streams), [0] * streams, [], []
    for index, (operation, waits) in enumerate(zip(plan.operations, dependencies(plan), strict=True)):
        clock = clocks[operation.stream]
        for earlier in reversed(waits):
            source = plan.operations[earlier].stream
            if source != operation.stream and clock[source] < place[earlier]:
                yield earlier, index
                clock[:] = map(max, clock, done[earlier])
        issued[operation.stream] += 1
        clock[operation.stream] = issued[operation.stream]
        place.append(issued[operation.stream])
        done.append(clock.copy())


def along_diagonals(plan):
    """Operations in topological order, early diagonals first."""
    waits, over, order = [set(wait) for wait in dependencies(plan)], set(), []
    sign = 1 if plan.direction == "forward" else -1
    number = lambda k: (sign * (plan.operations[k].steps[0] + plan.operations[k].layer), k)
    ready = [number(k) for k, wait in enumerate(waits) if not wait]
    heapq.heapify(ready)
    while ready:
        order.append(heapq.heappop(ready)[1])
        over.add(order[-1])
        for k in [k for k, wait in enumerate(waits) if order[-1] in wait and wait <= over]:
            heapq.heappush(ready, number(k))
    return order


@pytest.mark.parametrize("direction", BUILD)
@pytest.mark.parametrize("cell", ["gru_after", "lstm"])
def test_events_and_diagonals_are_those_of_slow_loops(cell, direction):
    for plan in plans(cell, direction, Sizes(3, 2, 2, 2, 2)):
        in_streams = assign_streams(plan)
        assert events(in_streams) == list(events_one_by_one(in_streams))
        assert wavefront(plan).operations == tuple(plan.operations[k] for k in along_diagonals(plan))


def test_a_plan_without_operations_has_no_hazards():
    assert hazards(EMPTY) == dependencies(EMPTY) == events(EMPTY) == []
    assert wavefront(EMPTY).operations == ()


def test_regions_that_share_some_rows_and_columns_are_told_apart():
    plan = forward_plan("rnn_tanh", Sizes(1, 1, 1, 1, 1))
    one = plan.operations[0]
    writing = lambda rows, columns: one._replace(reads=(), writes=(Region("h", rows, columns),))
    block = [
        writing((0, 4), (0, 4)),
        writing((0, 2), (0, 2)),
        writing((2, 4), (0, 2)),
        writing((1, 3), (1, 2)),
    ]
    pairs = {(hazard.earlier, hazard.later) for hazard in hazards(plan.after("block", block))}
    assert pairs == {(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)}
