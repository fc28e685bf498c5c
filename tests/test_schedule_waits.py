"""Who waits for whom: the compiled loops against slow ones, and what passes take along against a new look."""

import heapq
from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.hazards import dependencies, hazards, waits_of
from rnnlab.schedule.order import assign_streams, events, reorder, two_streams, wavefront
from rnnlab.schedule.passes import (
    batch_inputs,
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
anew = replace  # a plan with the same operations, of which nothing is known


def plans(cell, direction, sizes):
    """A plan under every combination of switches."""
    for on in product((False, True), repeat=len(SWITCHES)):
        passes = [each for some, chosen in zip(SWITCHES, on, strict=True) if chosen for each in some]
        yield apply(BUILD[direction](cell, sizes), passes)


def by_element(plan):
    """(earlier, later): of every number its latest writer and the readers since."""
    writer, readers = {}, defaultdict(set)
    for index, each in enumerate(plan.operations):
        for number in numbers_of(each.touches):
            yield from ((earlier, index) for earlier in writer.get(number, ()))
        for number in numbers_of(each.writes):
            yield from ((earlier, index) for earlier in {*writer.get(number, ()), *readers[number]})
        for number in numbers_of(each.writes):
            writer[number], readers[number] = (index,), set()
        for number in numbers_of(each.reads):
            readers[number].add(index)


def numbers_of(regions):
    return {(r.buffer, i, j) for r in regions for i in range(*r.rows) for j in range(*r.columns)}


@pytest.mark.parametrize("direction", BUILD)
@pytest.mark.parametrize("cell", CELLS)
def test_the_hazards_are_those_of_every_single_number(cell, direction):
    for plan in plans(cell, direction, Sizes(3, 2, 2, 3, 2)):
        found = hazards(plan)
        pairs = [(each.later, each.earlier) for each in found]
        assert len(set(pairs)) == len(pairs)
        assert {(earlier, later) for later, earlier in pairs}.issuperset(by_element(plan))
        for kind, earlier, later, region in found:
            before, after = plan.operations[earlier], plan.operations[later]
            assert region in (before.touches if kind == "write after read" else before.writes)
            theirs = after.touches if kind == "read after write" else after.writes
            assert any(overlap(region, each) for each in theirs)


def by_dictionaries(plan):
    """Hazards in their order, each with the region that names it, as hazards finds them with numbers."""
    regions = [region for each in plan.operations for region in each.reads + each.writes]
    written = {region.buffer for each in plan.operations for region in each.writes}
    rows = {name: min(r.shape[0] for r in regions if r.buffer == name) for name in written}
    readers, writers = defaultdict(list), defaultdict(list)
    for index, each in enumerate(plan.operations):
        found = {}
        for region in each.touches:
            note(found, "read after write", writers, region, rows)
        for region in each.writes:
            note(found, "write after read", readers, region, rows)
            note(found, "write after write", writers, region, rows)
        for region in each.writes:
            forget(region, (readers, writers), rows)
            enter(region, index, writers, rows)
        for region in each.reads:
            enter(region, index, readers, rows)
        yield from ((kind, earlier, index, other) for earlier, (kind, other) in found.items())


def buckets(region, rows):
    name, (first, last), _ = region
    height = rows.get(name, 1)
    return [(name, k) for k in range(first // height, -(-last // height))] if name in rows else []


def note(found, kind, table, region, rows):
    for bucket in buckets(region, rows):
        for other, earlier in table[bucket]:
            if overlap(region, other):
                found.setdefault(earlier, (kind, other))


def forget(region, tables, rows):
    for bucket, table in product(buckets(region, rows), tables):
        table[bucket] = [each for each in table[bucket] if not covers(region, each[0], bucket, rows)]


def enter(region, index, table, rows):
    for bucket in buckets(region, rows):
        table[bucket].append((region, index))


def covers(new, old, bucket, rows):
    low, high = bucket[1] * rows[new.buffer], (bucket[1] + 1) * rows[new.buffer]
    across = new.columns[0] <= old.columns[0] and old.columns[1] <= new.columns[1]
    return across and new.rows[0] <= max(old.rows[0], low) and min(old.rows[1], high) <= new.rows[1]


@pytest.mark.parametrize("sizes", [Sizes(5, 2, 3, 4, 3), Sizes(1, 1, 1, 1, 1), Sizes(4, 3, 2, 2, 1)], ids=str)
@pytest.mark.parametrize("direction", BUILD)
@pytest.mark.parametrize("cell", CELLS)
def test_compiled_hazards_are_those_of_a_loop_over_dictionaries(cell, direction, sizes):
    for plan in plans(cell, direction, sizes):
        assert [tuple(each) for each in hazards(plan)] == list(by_dictionaries(plan))


def ancestors(waits):
    """For each operation, a bit for every one that must be over when it starts."""
    before = []
    for each in waits:
        before.append(0)
        for earlier in each:
            before[-1] |= before[earlier] | 1 << earlier
    return before


def taken_along(plan):
    waits = [[] for _ in plan.operations]
    for earlier, later in zip(*waits_of(plan), strict=True):
        waits[later].append(int(earlier))
    return waits


@pytest.mark.parametrize("batch", [batch_two_inputs, batch_inputs])
@pytest.mark.parametrize(
    "before",
    [(), (group_gates,), (group_gates, fuse_pointwise), (transpose_once,)],
    ids=lambda passes: " ".join(each.__name__ for each in passes) or "nothing",
)
@pytest.mark.parametrize("direction", BUILD)
@pytest.mark.parametrize("cell", CELLS)
def test_what_passes_take_along_orders_the_same_as_what_is_found_anew(cell, direction, before, batch):
    plan = BUILD[direction](cell, Sizes(5, 2, 3, 4, 3))
    waits_of(plan)
    rest = (batch, weight_gradient_after_loop, wavefront, two_streams, group_gates, wavefront, assign_streams)
    for each in (*before, *rest):
        plan = each(plan)
        assert ancestors(taken_along(plan)) == ancestors(dependencies(plan))
        assert events(plan) == events(anew(plan))
        assert wavefront(plan) == wavefront(anew(plan))
    assert "waits" in plan.derived
    assert "waits" not in anew(plan).derived


def test_an_order_is_refused_in_the_same_words_whatever_is_known():
    plan = apply(backward_plan("lstm", Sizes(4, 2, 3, 4, 2)), (weight_gradient_after_loop, wavefront))
    rng, last = np.random.default_rng(0), len(plan.operations) - 1
    for _ in range(20):
        order = list(range(last + 1))
        order.insert(0, order.pop(rng.integers(last // 2, last)))
        with pytest.raises(ValueError, match="before") as known:
            reorder(plan, order)
        with pytest.raises(ValueError, match="before") as new:
            reorder(anew(plan), order)
        assert str(known.value) == str(new.value)


def events_one_by_one(plan):
    """As events says, with a clock for each stream."""
    streams = 1 + max(each.stream for each in plan.operations)
    clocks, issued, place, done = defaultdict(lambda: [0] * streams), [0] * streams, [], []
    for index, (each, waits) in enumerate(zip(plan.operations, dependencies(plan), strict=True)):
        clock = clocks[each.stream]
        for earlier in reversed(waits):
            source = plan.operations[earlier].stream
            if source != each.stream and clock[source] < place[earlier]:
                yield earlier, index
                clock[:] = map(max, clock, done[earlier])
        issued[each.stream] += 1
        clock[each.stream] = issued[each.stream]
        place.append(issued[each.stream])
        done.append(clock.copy())


def along_diagonals(plan):
    """Operations in topological order, early diagonals first."""
    waits, over, order = [set(each) for each in dependencies(plan)], set(), []
    sign = 1 if plan.direction == "forward" else -1
    number = lambda k: (sign * (plan.operations[k].steps[0] + plan.operations[k].layer), k)
    ready = [number(k) for k, each in enumerate(waits) if not each]
    heapq.heapify(ready)
    while ready:
        order.append(heapq.heappop(ready)[1])
        over.add(order[-1])
        for k in [k for k, each in enumerate(waits) if order[-1] in each and each <= over]:
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
    pairs = {(each.earlier, each.later) for each in hazards(plan.after("block", block))}
    assert pairs == {(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)}
