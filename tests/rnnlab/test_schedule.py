"""Plans: every optimisation leaves the reference's numbers, and every order that would not is refused."""

import itertools
import random

import numpy as np
import pytest

from rnnlab import reference
from rnnlab.cells import find_cell, modes
from rnnlab.compare import relative_error
from rnnlab.network import Network
from rnnlab.schedule import network_arrays as buffers
from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.hazards import dependencies, unordered
from rnnlab.schedule.order import assign_streams, capture, events, wavefront
from rnnlab.schedule.passes import (
    batch_inputs,
    fuse_pointwise,
    group_gates,
    transpose_once,
    weight_gradient_after_loop,
)
from rnnlab.schedule.plan import Sizes, overlap
from rnnlab.schedule.run_numpy import allocate, execute

CELLS = [(cell, "after") for cell in modes() if find_cell(cell).reads_state] + [("gru", "before")]
SIZES = Sizes(T=5, B=3, I=4, H=6, L=3)
BUILD = {"forward": forward_plan, "backward": backward_plan}
PASSES = {
    "group_gates": group_gates,
    "fuse_pointwise": fuse_pointwise,
    "transpose_once": transpose_once,
    "batch 2 inputs": lambda plan: batch_inputs(plan, 2),
    "batch all inputs": batch_inputs,
    "weight_gradient_after_loop": weight_gradient_after_loop,
    "wavefront": wavefront,
    "streams": assign_streams,
    "one stream a layer": lambda plan: assign_streams(plan, 1),
    "capture": capture,
}
WHOLE = ("group_gates", "fuse_pointwise", "transpose_once", "batch 2 inputs", "weight_gradient_after_loop")
NETWORK = (*WHOLE, "wavefront", "streams", "capture")


def through(plan, names):
    for name in names:
        plan = PASSES[name](plan)
    return plan


def names_of(cell, reset):
    return f"gru_{reset}" if cell == "gru" else cell


class Problem:
    """A network with lively units, all inputs, and what the reference makes of them."""

    def __init__(self, cell, reset, sizes=SIZES):
        self.network = Network.create(
            cell, sizes.I, sizes.H, sizes.L, reset=reset, dtype="float64", gain=2.0, seed=sizes.T
        )
        rng = np.random.default_rng(sizes.H)
        draw = lambda *shape: rng.normal(size=shape)
        self.sizes, self.x, self.dy = sizes, draw(sizes.T, sizes.B, sizes.I), draw(sizes.T, sizes.B, sizes.H)
        self.state, self.dstate = (
            tuple(0.5 * draw(sizes.L, sizes.B, sizes.H) for _ in find_cell(cell).states) for _ in range(2)
        )
        self.y, self.final, saved = reference.forward(self.network, self.x, self.state)
        self.back = reference.backward(self.network, saved, self.dy, self.dstate)

    def plan(self, direction):
        return BUILD[direction](self.network.properties.name, self.sizes)

    def error(self, forward, backward, order_of=lambda plan: None):
        """Largest relative error of all results, when these plans run, in the orders that order_of gives."""
        T, B, network = self.sizes.T, self.sizes.B, self.network
        arrays = allocate(forward, "float64", buffers.forward_arrays(network, self.x, self.state))
        execute(forward, arrays, order_of(forward))
        y, final = buffers.forward_results(network, arrays, T, B)
        stored = {name: array for name, array in arrays.items() if name in forward.outputs}
        arrays = allocate(
            backward, "float64", stored | buffers.backward_arrays(network, self.dy, self.dstate)
        )
        execute(backward, arrays, order_of(backward))
        dx, dfirst, gradients = buffers.backward_results(network, arrays, T, B)
        want_dx, want_dfirst, want_gradients = self.back
        pairs = [(y, self.y), (dx, want_dx), *zip(final, self.final, strict=True)]
        pairs += [*zip(dfirst, want_dfirst, strict=True)]
        pairs += [(gradients[name], want_gradients[name]) for name in want_gradients]
        return max(relative_error(got, want) for got, want in pairs)


@pytest.fixture(scope="module")
def problems():
    return {(cell, reset): Problem(cell, reset) for cell, reset in CELLS}


SUBSETS = [
    tuple(n for n, on in zip(WHOLE, chosen, strict=True) if on)
    for chosen in itertools.product([0, 1], repeat=5)
]


@pytest.mark.corpus
@pytest.mark.parametrize(("cell", "reset"), CELLS)
@pytest.mark.parametrize("names", SUBSETS, ids=lambda names: "+".join(names) or "naive")
def test_every_combination_of_passes_gives_the_references_numbers(problems, cell, reset, names):
    problem = problems[cell, reset]
    plans = [through(problem.plan(direction), names) for direction in BUILD]
    assert problem.error(*plans) < 1e-13
    in_streams = [through(plan, ("wavefront", "streams")) for plan in plans]
    assert problem.error(*in_streams) < 1e-13


@pytest.mark.parametrize(
    "names", [*itertools.permutations(WHOLE[:3]), WHOLE[::-1], ("batch all inputs", *NETWORK)], ids=str
)
def test_passes_may_come_in_any_order(problems, names):
    problem = problems["lstm", "after"]
    assert problem.error(*(through(problem.plan(direction), names) for direction in BUILD)) < 1e-13


@pytest.mark.parametrize("sizes", [Sizes(1, 1, 1, 1, 1), Sizes(1, 3, 2, 5, 2), Sizes(7, 1, 6, 3, 1)], ids=str)
@pytest.mark.parametrize(("cell", "reset"), CELLS)
def test_small_and_odd_sizes_are_no_exception(cell, reset, sizes):
    problem = Problem(cell, reset, sizes)
    assert problem.error(*(through(problem.plan(direction), NETWORK) for direction in BUILD)) < 1e-13


def any_order_that_streams_allow(seed):
    """Operations start whenever their stream and the events they wait for let them, at random."""

    def order_of(plan):
        rng, waits = random.Random(seed), {}
        for recorded, waiting in events(plan):
            waits.setdefault(waiting, []).append(recorded)
        queues = {}
        for index, operation in enumerate(plan.operations):
            queues.setdefault(operation.stream, []).append(index)
        order, done = [], set()
        while len(order) < len(plan.operations):
            free = [q for q in queues.values() if q and done.issuperset(waits.get(q[0], ()))]
            order.append(rng.choice(free).pop(0))
            done.add(order[-1])
        return order

    return order_of


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("cell", "reset"), CELLS)
def test_whatever_streams_and_events_allow_gives_the_same_numbers(problems, cell, reset, seed):
    problem = problems[cell, reset]
    for names in (NETWORK, ("wavefront", "streams")):
        plans = [through(problem.plan(direction), names) for direction in BUILD]
        assert problem.error(*plans, any_order_that_streams_allow(seed)) < 1e-13


@pytest.mark.parametrize("direction", BUILD)
@pytest.mark.parametrize(("cell", "reset"), CELLS)
def test_events_leave_no_hazard_open_and_none_is_superfluous(cell, reset, direction):
    plan = through(BUILD[direction](names_of(cell, reset), Sizes(4, 2, 3, 2, 3)), NETWORK)
    all_events = events(plan)
    assert unordered(plan, all_events) == []
    for left_out in range(len(all_events)):
        assert unordered(plan, all_events[:left_out] + all_events[left_out + 1 :])


def all_pairs(plan):
    """Pairs of operations that must not change places, by comparing each with each."""
    meets = lambda first, others: any(overlap(a, b) for a in first for b in others)
    for later, after in enumerate(plan.operations):
        for earlier, before in enumerate(plan.operations[:later]):
            if meets(before.writes, after.touches + after.writes) or meets(before.touches, after.writes):
                yield earlier, later


@pytest.mark.parametrize("direction", BUILD)
@pytest.mark.parametrize("names", [(), ("group_gates",), WHOLE, ("batch all inputs", "wavefront")], ids=str)
@pytest.mark.parametrize("cell", ["rnn_relu", "gru_before", "gru_after", "lstm"])
def test_derived_dependencies_order_every_conflicting_pair_and_no_other(cell, names, direction):
    plan = through(BUILD[direction](cell, Sizes(3, 2, 3, 4, 2)), names)
    conflicting, reachable = set(all_pairs(plan)), []
    for index, waits in enumerate(dependencies(plan)):
        assert all((earlier, index) in conflicting for earlier in waits)
        reachable.append(set(waits).union(*(reachable[earlier] for earlier in waits)))
    assert all(earlier in reachable[later] for earlier, later in conflicting)
