"""The timeline model: laws every timeline keeps, hand-made cases, its distance from published figures."""

from dataclasses import replace

import pytest

from pocketgpu.devices import DEVICES, find
from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.hazards import dependencies
from rnnlab.schedule.order import assign_streams, capture, wavefront
from rnnlab.schedule.passes import batch_inputs, fuse_pointwise, group_gates, transpose_once
from rnnlab.schedule.plan import Operation, Plan, Region, Sizes
from rnnlab.schedule.timeline import BEST, HALF, predict, throughput

H200 = find("H200")
TWO = lambda plan: batch_inputs(plan, 2)
CELL = (group_gates, fuse_pointwise)


def through(plan, passes):
    for change in passes:
        plan = change(plan)
    return plan


def gemm(name, stream=0, reads=None):
    """A product of 64 sequences with 512 × 512 weights: 8 blocks."""
    a = reads or Region(f"{name} in", (0, 64), (0, 512))
    weights, out = Region(f"{name} W", (0, 512), (0, 512)), Region(name, (0, 64), (0, 512))
    return Operation("gemm", (a, weights), (out,), 0, (0, 1), stream=stream)


def plan_of(*operations):
    return Plan("rnn_tanh", Sizes(1, 64, 512, 512, 1), "forward", operations, {}, frozenset())


def test_a_single_product_takes_its_issue_its_node_and_its_work():
    timeline = predict(plan_of(gemm("a")), H200)
    peak = 2 * 132 * 128 * 1.755e3  # FLOP per microsecond
    work = 2 * 64 * 512 * 512 / (peak * 8 / 132 * BEST / (1 + HALF))
    assert timeline.start == (H200.launch,)
    assert timeline.makespan == pytest.approx(H200.launch + H200.node + work)


def test_products_in_two_streams_overlap_and_those_that_depend_do_not():
    alone = predict(plan_of(gemm("a")), H200).makespan
    beside = predict(plan_of(gemm("a"), gemm("b", stream=1)), H200)
    assert beside.makespan == pytest.approx(alone + H200.launch)
    waiting = gemm("b", stream=1, reads=Region("a", (0, 64), (0, 512)))
    after = predict(plan_of(gemm("a"), waiting), H200)
    assert after.start[1] == pytest.approx(after.end[0])


def test_products_that_fill_the_chip_gain_nothing_from_running_at_once():
    m40 = replace(find("M40"), launch=0.0, node=0.0)
    wide = lambda name, stream: gemm(name, stream)._replace(writes=(Region(name, (0, 6400), (0, 51200)),))
    one, both = (predict(plan_of(*entry), m40) for entry in ([wide("a", 0)], [wide("a", 0), wide("b", 1)]))
    assert both.makespan == pytest.approx(2 * one.makespan, rel=0.01)


def test_throughput_grows_with_blocks_and_stays_below_the_peak():
    for device in DEVICES.values():
        rates = [throughput(device, blocks) for blocks in (1, 8, device.multiprocessors, 1000, 10**6)]
        assert rates == sorted(rates)
        assert rates[-1] < BEST * device.peak * 1e6


STAGES = {
    "naive": (),
    "cell": CELL,
    "streams": (*CELL, assign_streams),
    "network": (*CELL, transpose_once, TWO, wavefront, assign_streams),
    "graph": (*CELL, transpose_once, TWO, wavefront, assign_streams, capture),
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("build", [forward_plan, backward_plan])
@pytest.mark.parametrize("cell", ["rnn_tanh", "gru_before", "lstm"])
def test_a_timeline_keeps_the_laws(cell, build, stage):
    plan = through(build(cell, Sizes(6, 16, 64, 64, 3)), STAGES[stage])
    timeline = predict(plan, H200)
    for index, waits in enumerate(dependencies(plan)):
        assert all(timeline.end[earlier] <= timeline.start[index] + 1e-6 for earlier in waits)
    last = {}
    for index, operation in enumerate(plan.operations):
        assert timeline.start[index] >= last.get(operation.stream, 0.0) - 1e-6
        assert timeline.end[index] - timeline.start[index] >= H200.node - 1e-6
        last[operation.stream] = timeline.end[index]
    assert timeline.tflops < H200.peak


def test_stages_are_predicted_to_be_worth_their_while():
    sizes = Sizes(20, 64, 512, 512, 4)
    for device in ("M40", "V100", "H200"):
        plans = {stage: through(forward_plan("lstm", sizes), passes) for stage, passes in STAGES.items()}
        naive, cell, streams, network, graph = (
            predict(entry, find(device)).makespan for entry in plans.values()
        )
        assert naive > 2 * cell > 2 * streams
        assert network < cell
        assert graph < 1.05 * network  # the order in which streams get a turn changes a little


def test_four_layers_gain_what_the_blog_on_cudnn_5_says():
    """Appleyard et al. 2016, M40; rnncourse/test_published_timelines.py has the other figures."""
    whole = (*CELL, transpose_once, TWO, wavefront, assign_streams)
    times = {}
    for layers, passes in ((1, ()), (4, whole)):
        plan = through(forward_plan("lstm", Sizes(20, 64, 512, 512, layers)), passes)
        times[layers] = predict(plan, find("M40")).makespan
    assert 4 * times[1] / times[4] == pytest.approx(11.1, rel=0.25)


def test_an_unknown_device_is_refused_with_the_list():
    with pytest.raises(ValueError, match=r"'RTX'.*TitanX.*M40"):
        find("RTX")
