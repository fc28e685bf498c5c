"""The scaling model: costs against simulated messages, overlap by hand, distance from published runs."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from values_in import holds

from nbjudge.authoring.course import ROOT
from pocketgpu.devices import find
from ranks import costs
from ranks.costs import ALGORITHMS, Link, all_reduce_seconds, two_level_seconds
from ranks.simulated_transfers import Schedule, replay, schedule, step_of
from rnncourse.scaling import model, model_fit, published
from rnnlab.ladder import stage_passes
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.stages import plan_for

LINK = Link(1e-5, 1e-9, 2e-10)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8, 13, 64, 100])
def test_a_formula_gives_the_time_of_its_messages_sent_one_by_one(algorithm, ranks):
    simulated = replay(schedule(algorithm, ranks), 8e6, LINK)
    assert not simulated.findings
    assert all_reduce_seconds(algorithm, ranks, 8e6, LINK) == pytest.approx(simulated.seconds)


def two_level(ranks: int, node: int) -> Schedule:
    """Ring in each node, then rings of one rank of every node, then the ring in each node again."""
    nodes = ranks // node

    def steps():
        rank = np.arange(ranks)
        place, home = rank % node, rank // node
        inner = home * node + (place + 1) % node
        for number in range(node - 1):
            part = (place - number) % node
            yield step_of(rank, inner, part * nodes, (part + 1) * nodes, True)
        part, peer = (place + 1) % node, (rank + node) % ranks
        for number in range(2 * (nodes - 1)):
            adds = number < nodes - 1
            chunk = part * nodes + (home - number + (not adds) * nodes) % nodes
            yield step_of(rank, peer, chunk, chunk + 1, adds)
        for number in range(node - 1):
            part = (place + 1 - number) % node
            yield step_of(rank, inner, part * nodes, (part + 1) * nodes, False)

    return Schedule("two-level", ranks, ranks, steps)


@pytest.mark.parametrize(("ranks", "node"), [(8, 4), (12, 3), (64, 8), (6, 6), (5, 1)])
def test_the_two_level_formula_gives_the_time_of_its_messages(ranks, node):
    inside, between = Link(1e-6, 1e-10), Link(1e-5, 1e-9)
    simulated = replay(two_level(ranks, node), 8e6, inside, between, node)
    assert not simulated.findings
    assert two_level_seconds(ranks, 8e6, node, inside, between) == pytest.approx(simulated.seconds)


def test_the_figures_of_the_ring_post_follow_from_bytes_alone():
    # 1.2 GB at 10 GB/s inside a node of 8, at 6 GB/s beyond: milliseconds computed by hand
    inside, between = Link.from_bandwidth(0, 10), Link.from_bandwidth(0, 6)
    assert all_reduce_seconds("ring", 2, 1.2e9, inside) == pytest.approx(0.120)
    assert all_reduce_seconds("ring", 40, 1.2e9, between) == pytest.approx(0.390)


def test_short_arrays_want_few_messages_and_long_ones_few_bytes():
    assert costs.fastest(64, 8, LINK) == "recursive doubling"
    assert costs.fastest(64, 1e9, LINK) in ("ring", "Rabenseifner")
    assert costs.fastest(1000, 1e9, LINK) == "ring"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Link(-1, 0), "latency is -1"),
        (lambda: Link.from_bandwidth(1, 0), "bandwidth is 0"),
        (lambda: all_reduce_seconds("ring", 0, 8, LINK), "ranks is 0"),
        (lambda: all_reduce_seconds("ring", 2, float("nan"), LINK), "size is nan"),
        (lambda: all_reduce_seconds("star", 2, 8, LINK), "there are one reducer, tree"),
        (lambda: two_level_seconds(10, 8, 4, LINK, LINK), "use a multiple of 4"),
        (
            lambda: model.predict_update(model.Training(4), 8, published.RATES["persistent"]),
            "at most 4 ranks",
        ),
        (lambda: published.find("x"), "there are ring all-reduce"),
        (lambda: model_fit.fit(published.SERIES[0], ()), "give at least one"),
        (lambda: model.schedule_update((1, 1), [2], [8], float), "outside the backward pass"),
        (lambda: model.schedule_update((1, 1), [1], [8, 8], float), "1 ready times for 2 layers"),
    ],
)
def test_a_number_that_makes_no_sense_is_named_with_its_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_messages_follow_one_another_and_hide_behind_the_layers_below():
    # forward 10 s, backward 30 s; three layers, 8 s of network each, the top layer first
    update = model.schedule_update((10, 30), [30, 20, 10], [1, 1, 1], lambda size: 8 * size)
    assert [(m.layer, m.start, m.end) for m in update.messages] == [(2, 20, 28), (1, 30, 38), (0, 40, 48)]
    assert (update.seconds, update.exposed, update.hidden) == (48, 8, 16)
    late = model.schedule_update((10, 30), [30, 20, 10], [1, 1, 1], lambda size: 8 * size, overlap=False)
    assert (late.seconds, late.exposed, late.hidden) == (64, 24, 0)


def test_a_wavefront_completes_all_gradients_near_the_end_and_hides_less():
    device, ready = find("H200"), {}
    for stage in ("fused_layer", "layer_wavefront"):
        plan = plan_for("backward", "rnn_tanh", Sizes(40, 64, 512, 512, 4), stage_passes()[stage])
        ready[stage], backward = model.ready_times(plan, device)
        assert all(lower > upper for lower, upper in pairwise(ready[stage]))  # the top layer is first
        assert ready[stage][0] == pytest.approx(backward, rel=0.05)
    layer_wise, wavefront = ([time / times[0] for time in times] for times in ready.values())
    assert layer_wise[3] == pytest.approx(1 / 4, abs=0.05)
    assert wavefront[3] > 0.6


def test_ready_times_need_a_backward_plan():
    plan = plan_for("forward", "rnn_tanh", Sizes(2, 3, 4, 4, 1), ())
    with pytest.raises(ValueError, match="give a backward plan"):
        model.ready_times(plan, find("H200"))


@pytest.mark.parametrize(("sequences", "microseconds"), [(1, 3.903), (4, 3.819), (62, 58.77), (124, 117.5)])
def test_a_product_takes_the_time_of_its_published_rate(sequences, microseconds):
    seconds = model.product_seconds(published.RATES["persistent"], sequences)
    assert 1e6 * seconds == pytest.approx(microseconds, rel=1e-3)


@pytest.mark.parametrize("batch", [512, 1024])
def test_eight_times_the_gpus_help_a_persistent_network_and_hardly_one_of_gemms(batch):
    gain = {}
    for name, rates in published.RATES.items():
        few, many = (model.predict_update(model.Training(batch), ranks, rates).seconds for ranks in (16, 128))
        gain[name] = few / many
    assert gain["persistent"] > 7.5
    assert max(gain["GEMM, text"], gain["GEMM, figure"]) < 1.7


def test_terms_of_an_update_add_up_and_the_small_minibatch_stops_1024_ranks():
    lines = model.strong_scaling(
        model.Training(1024), [16, 32, 64, 128, 256, 512, 1024], published.RATES["persistent"]
    )
    for line in lines:
        assert sum(line.terms.values()) == pytest.approx(line.update.seconds)
    assert model.stops_paying(lines) == (256, "small minibatch")
    assert model.stops_paying(lines[:4]) is None


def test_published_points_are_all_there_and_their_times_follow_from_their_rates():
    ring = published.find("ring all-reduce, 40 GPUs")
    assert [point.gpus for point in ring.points] == [*range(1, 41)]
    assert ring.points[39].seconds == pytest.approx(1e3 * 32 * 40 / 1770)
    assert sum(len(series.points) for series in published.SERIES) == 84


def test_nine_of_ten_published_runs_between_the_fitted_ones_are_predicted_within_a_tenth():
    lines = model_fit.lines(model_fit.alternate)
    judged = [line for line in lines if not line.is_fitted]
    assert len(judged) == 37
    assert sum(abs(line.error) <= 0.10 for line in judged) == 34
    assert max(abs(line.error) for line in judged) < 0.25
    assert holds(model_fit.verdict(lines), "34", "37", "10", "37", "25")
    assert model_fit.table(lines).count("judged") == 37


def test_larger_runs_than_the_fitted_ones_are_predicted_within_a_quarter():
    lines = model_fit.lines(model_fit.extrapolate)
    for series in published.SERIES:
        own = [line for line in lines if line.series is series and not line.point.network == "8k"]
        fitted = [line.point.gpus for line in own if line.is_fitted]
        assert max(fitted) < min(line.point.gpus for line in own if not line.is_fitted)
    judged = [line for line in lines if not line.is_fitted]
    assert sum(abs(line.error) <= 0.10 for line in judged) == 28
    assert max(abs(line.error) for line in judged) < 0.25


def test_a_fit_reads_nothing_of_the_runs_that_judge_it():
    series = published.find("mLSTM, InfiniBand")
    lines = model_fit.lines(series=[series])
    points = (
        line.point if line.is_fitted else line.point._replace(seconds=7 * line.point.seconds)
        for line in lines
    )
    again = model_fit.lines(series=[replace(series, points=tuple(points))])
    assert [line.predicted for line in again] == [line.predicted for line in lines]


def test_the_readme_states_how_many_runs_are_fitted_and_how_many_judged():
    lines, far = model_fit.lines(), model_fit.lines(model_fit.extrapolate)
    fitted = sum(line.is_fitted for line in lines)
    close = sum(abs(line.error) <= model_fit.CLOSE for line in far if not line.is_fitted)
    row = next(
        line
        for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        if "scaling_out" in line
    )
    for message in (
        f"fitted to {fitted} ",
        f"by {len(lines) - fitted} others",
        f"{close} of {len(lines) - fitted} ",
    ):
        assert message in row


def test_the_larger_network_has_the_bytes_of_its_own_formula():
    assert pytest.approx(3.969, abs=5e-4) == published.MLSTM_SCALE


@pytest.mark.parametrize("seed", range(20))
def test_costs_of_least_error_are_those_of_an_independent_solver(seed):
    nnls = pytest.importorskip("scipy.optimize").nnls
    rng = np.random.default_rng(seed)
    left, right = rng.uniform(0, 1, (7, 4)) * [1, 1, 0 if seed % 4 == 0 else 1, 50], rng.normal(0.3, 1, 7)
    costs_found, residual = model_fit.least_squares(left, right)
    wanted, least = nnls(left, right)
    np.testing.assert_allclose(costs_found, wanted, atol=1e-9)
    assert residual == pytest.approx(least)
