"""Schedules of the capstone: legal ones give the right gradients in any order of streams; the bound holds."""

import numpy as np
import pytest
from properties import given, settings, st

from pocketgpu.devices import find
from rnncourse.capstone.launches import BACKWARD, FORWARD, WEIGHTS, Illegal, Problem, read_schedule
from rnncourse.capstone.residual import Residual
from rnncourse.capstone.run import arrays_of, problem_of, results, run_plan
from rnncourse.capstone.score import (
    PROBLEMS,
    bounds,
    is_promised,
    place_arrays,
    planned,
    score,
    score_all,
    try_schedule,
)
from rnncourse.checks.lesson_19_capstone import draw_problems
from rnnlab.network import Network
from rnnlab.schedule.hazards import unordered
from rnnlab.schedule.order import events
from rnnlab.schedule.run_numpy import allocate, execute


def segmented(problem, block, length, streams):
    """A schedule that recomputes segments of `length` layers."""
    L, J = problem.layers, -(-problem.steps // block)
    up = lambda layers: [(FORWARD, l, j, l % streams) for l in layers for j in range(J)]
    rows = up(range(L))
    for lowest in reversed(range(0, L, length)):
        segment = range(lowest, min(L, lowest + length))
        rows += up(segment) if segment[-1] < L - 1 else []
        for l in reversed(segment):
            for j in reversed(range(J)):
                rows += [(BACKWARD, l, j, l % streams), (WEIGHTS, l, j, (l + 1) % streams)]
    return block, np.array(rows)


def network_and_data(L, T, B, H):
    network = Network.create("rnn_tanh", H, H, layers=L, dtype="float64", seed=3)
    rng = np.random.default_rng([L, T, B, H])
    return network, rng.standard_normal((T, B, H)), rng.standard_normal((T, B, H))


def assert_right(result, network, x, dy):
    rung = Residual()
    y, _, saved = rung.forward(network, x)
    dx, _, gradients = rung.backward(network, saved, dy)
    np.testing.assert_allclose(result.y, y, atol=1e-12)
    np.testing.assert_allclose(result.dx, dx, atol=1e-12)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(result.gradients[name], gradient, atol=1e-11, err_msg=name)


def random_order(plan, rng):
    """Operations in a random order that streams and events allow."""
    waits = [set() for _ in plan.operations]
    for earlier, later in events(plan):
        waits[later].add(earlier)
    last = {}
    for index, operation in enumerate(plan.operations):
        if operation.stream in last:
            waits[index].add(last[operation.stream])
        last[operation.stream] = index
    order, left = [], set(range(len(waits)))
    while left:
        ready = sorted(index for index in left if waits[index] <= set(order))
        order.append(ready[rng.integers(len(ready))])
        left.remove(order[-1])
    return order


@settings(max_examples=15)
@given(
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(0, 9),
)
def test_a_legal_schedule_gives_the_gradients_in_every_order_of_its_streams(
    L, T, block, length, streams, seed
):
    network, x, dy = network_and_data(L, T, 2, 3)
    block, roomy = min(block, T), problem_of(network, x, 1000)
    answer = segmented(roomy, block, length, streams)
    _, peak = planned(read_schedule(roomy, answer))  # with no more than that, places are reused at once
    plan, _ = planned(read_schedule(roomy._replace(memory=peak * block), answer))
    assert not unordered(plan, events(plan))
    arrays = allocate(plan, "float64", arrays_of(network, x, dy))
    execute(plan, arrays, random_order(plan, np.random.default_rng(seed)))
    assert_right(results(arrays, network, x.shape), network, x, dy)


def test_a_schedule_in_the_least_memory_that_it_needs_still_gives_the_gradients():
    network, x, dy = network_and_data(9, 5, 3, 4)
    roomy = problem_of(network, x, 1000)
    _, peak = planned(read_schedule(roomy, segmented(roomy, 2, 3, 4)))
    tight = roomy._replace(memory=2 * peak + 1)  # blocks of 2 steps
    plan, same = planned(read_schedule(tight, segmented(tight, 2, 3, 4)))
    assert same == peak
    assert_right(run_plan(plan, network, x, dy), network, x, dy)
    with pytest.raises(Illegal, match=rf"\b{2 * peak - 1}\b"):
        planned(read_schedule(tight._replace(memory=2 * peak - 1), segmented(tight, 2, 3, 4)))


def test_the_arrays_that_are_live_are_those_that_a_later_launch_reads():
    # two layers, one step: h0 and y0, then h1 (the output y1 lies elsewhere), then dg1 beside h0, y0 and h1
    problem = Problem(2, 1, 4, 8, 99)
    rows = [
        (FORWARD, 0, 0, 0),
        (FORWARD, 1, 0, 0),
        (BACKWARD, 1, 0, 0),
        (WEIGHTS, 1, 0, 0),
        (BACKWARD, 0, 0, 0),
    ]
    layout = place_arrays(read_schedule(problem, (1, np.array([*rows, (WEIGHTS, 0, 0, 0)]))))
    assert layout.peak == 4
    assert [len(places) for places in layout.places] == [2, 2, 2, 3, 2, 2]


@settings(max_examples=8)
@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from((1, 31, 64, 130)),
    st.sampled_from((1, 67, 251, 512)),
    st.integers(1, 9),
    st.integers(1, 6),
    st.sampled_from(("H200", "T4", "M40")),
)
def test_no_schedule_is_faster_than_the_lower_bound(L, T, B, H, block, length, device):
    problem = Problem(L, T, B, H, 10_000)
    for streams in (1, 16):
        answer = segmented(problem, min(block, T), length, streams)
        roomy = score(problem, answer, find(device))
        tight = problem._replace(memory=roomy.saved_bytes // (4 * B * H))
        assert min(roomy.ratio, score(tight, answer, find(device)).ratio) >= 1


def test_a_chain_of_one_layer_and_one_step_is_what_the_timeline_takes_but_for_its_launch():
    problem = Problem(1, 1, 64, 512, 3)
    rows = np.array([(FORWARD, 0, 0, 0), (BACKWARD, 0, 0, 0), (WEIGHTS, 0, 0, 1)])
    assert (
        bounds(problem)["chain"] <= score(problem, (1, rows)).microseconds <= 1.15 * bounds(problem)["chain"]
    )


def test_less_memory_forces_arithmetic_into_the_bound():
    problem = PROBLEMS[-1]
    with_little, with_much = (
        bounds(problem._replace(memory=memory))["arithmetic"] for memory in (100, 10_000)
    )
    # 1500 of 1600 states are computed again: two products each, one in at most 100 first steps
    assert with_little / with_much == pytest.approx(1 + (2 * 1500 - 100) / (3 * (1600 + 1500)))


BREAKS = {
    "runs a layer before the layer below it": lambda rows: [rows[3], *rows],
    "runs a block before the block before it": lambda rows: [rows[1], *rows],
    "runs backward before forward": lambda rows: [(BACKWARD, 1, 2, 0), *rows],
    "goes backward from the bottom up": lambda rows: [*rows[:6], (BACKWARD, 0, 2, 0), *rows[6:]],
    "goes backward from the first step on": lambda rows: [*rows[:6], (BACKWARD, 1, 0, 0), *rows[6:]],
    "adds a weight gradient before its backward block": lambda rows: [
        *rows[:6],
        (WEIGHTS, 1, 2, 0),
        *rows[6:],
    ],
    "adds a weight gradient twice": lambda rows: [*rows, rows[-1]],
    "runs a backward block twice": lambda rows: [*rows, (BACKWARD, 0, 0, 0)],
    "leaves out the weight gradients": lambda rows: [row for row in rows if row[0] != WEIGHTS],
    "forgets the last block, which is shorter": lambda rows: [row for row in rows if row[2] != 2],
    None: lambda rows: [row for row in rows if row != (WEIGHTS, 0, 1, 0)],
}


@pytest.mark.parametrize("mistake", BREAKS)
def test_an_illegal_schedule_is_refused_by_name(mistake):
    problem = Problem(2, 5, 2, 3, 99)
    block, rows = segmented(problem, 2, 2, 1)
    rows = [tuple(row) for row in rows.tolist()]
    assert score(problem, (block, np.array(rows))).recomputed == 0
    with pytest.raises(Illegal) as refused:
        score(problem, (block, np.array(BREAKS[mistake](rows))))
    assert refused.value.mistake == mistake


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, r"must be \(block, launches\)"),
        ((2.0, [[0, 0, 0, 0]]), r"its block is 2.0"),
        ((True, []), r"its block is True"),
        ((0, []), "The block is 0 steps, expected 1 to 5"),
        ((6, []), "The block is 6 steps, expected 1 to 5"),
        ((2, [[0, 0, 0]]), r"array \(1, 3\)"),
        ((2, [[0, 0, 0, 0.5]]), "of float64, expected whole numbers"),
        ((2, [[0, 0], [1]]), "unequal lengths"),
        ((2, [[3, 0, 0, 0]]), "Launch 0: kind is 3, expected 0 to 2"),
        ((2, [[0, 2, 0, 0]]), "layer is 2, expected 0 to 1"),
        ((2, [[0, 0, 3, 0]]), "block is 3, expected 0 to 2"),
        ((2, [[0, 0, 0, 32]]), "stream is 32, expected 0 to 31"),
        ((2, [[0, -1, 0, 0]]), "layer is -1"),
        ((1, []), "There is no backward of layer 0, block 0"),
        ((1, np.zeros((50_001, 4), int)), "50001 launches; 50000 are allowed"),
    ],
)
def test_an_answer_of_another_form_is_refused_with_the_value(answer, message):
    with pytest.raises(Illegal, match=message):
        score(Problem(2, 5, 2, 3, 99), answer)


def test_a_refusal_names_the_problem_and_trying_gives_the_sentence():
    with pytest.raises(Illegal, match=r"layers=1, steps=1, minibatch=64"):
        score_all(lambda *sizes: (1, []))
    refusal = try_schedule(lambda *sizes: (1, []), PROBLEMS[0])
    assert "backward of layer 0, block 0" in str(refusal)
    assert not refusal
    assert np.isnan(refusal.microseconds / 3)  # a notebook that divides the times of two schedules continues


def test_the_check_and_the_board_stay_inside_what_the_exercise_promises():
    drawn = [Problem(*sizes) for seed in range(100) for sizes in draw_problems(np.random.default_rng(seed))]
    assert all(map(is_promised, (*PROBLEMS, *drawn)))
    tight = [problem for problem in drawn if problem.memory < 3 * problem.layers * problem.steps]
    assert min(problem.memory / (problem.steps * (problem.layers**0.5 + 1)) for problem in tight) >= 4
    assert not is_promised(Problem(7, 1, 64, 512, 14))  # more than half of 21
    assert not is_promised(Problem(13, 17, 96, 389, 313))  # 313.2 are promised


def test_a_network_that_no_schedule_fits_is_refused():
    x = np.zeros((2, 3, 4), "float32")
    with pytest.raises(ValueError, match=r"gru.*\b4\b.*\b4\b.*rnn_tanh"):
        arrays_of(Network.create("gru", 4, 4), x, x)
