"""Numbers that the prose of lessons 11 to 17 states about what a model predicts: computed again."""

from dataclasses import replace
from functools import cache
from math import ceil

import pytest

from nbjudge.authoring.course import ROOT
from pocketgpu.devices import find
from rnncourse.views.schedule_view import Settings, prediction
from rnnlab.schedule import timeline
from rnnlab.schedule.build import forward_plan
from rnnlab.schedule.hazards import dependencies
from rnnlab.schedule.passes import batch_inputs, fuse_pointwise, group_gates, transpose_once
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.timeline import Work

M40, H200 = find("M40"), find("H200")
ONE_STEP = Sizes(T=1, B=64, I=512, H=512, L=1)


@cache
def prose(lesson: str) -> str:
    (path,) = (ROOT / "notebooks" / "source").glob(f"{lesson}_*.py")
    return path.read_text(encoding="utf-8")


def product(plan):
    return next(operation for operation in plan.operations if operation.kind == "gemm")


def faster(settings: dict, move: dict) -> float:
    return prediction(Settings(**settings)).makespan / prediction(Settings(**settings | move)).makespan


def test_lesson_11_a_product_of_512_units_takes_54_times_the_peaks_time_for_four_reasons():
    one = product(forward_plan("lstm", ONE_STEP))
    work = Work.of(one, H200, 4)
    reasons = H200.multiprocessors / work.blocks, 1 + timeline.HALF, 1 / timeline.BEST, timeline.TRANSPOSED
    total = 1.0
    for reason in reasons:
        total *= reason
    assert work.solo_us / (one.flops / H200.peak / 1e6) == pytest.approx(total, rel=1e-6)
    assert round(total) == 54
    assert "54 times" in prose("11")


def test_lesson_11_rows_of_weights_are_free_up_to_one_block_on_each_multiprocessor():
    times = {}
    for rows in (512, 2048, 8448, 8512, 16896):
        times[rows] = Work.of(product(forward_plan("lstm", replace(ONE_STEP, H=rows))), H200, 4).solo_us
    assert times[512] == pytest.approx(times[8448])
    assert times[8512] > times[512]
    assert round(times[16896] / times[512], 1) == 1.4
    assert "up to 132 blocks, 8,448 rows" in prose("11")


def test_lesson_11_the_share_of_the_time_that_free_launches_leave():
    free = replace(H200, launch=0.0, node=0.0)
    for units, stated in ((64, 49), (512, 88)):
        plan = forward_plan("lstm", Sizes(T=20, B=64, I=units, H=units, L=1))
        assert (
            round(100 * timeline.predict(plan, free).makespan / timeline.predict(plan, H200).makespan)
            == stated
        )
    assert "49 % and 88 %" in prose("11")


def test_lesson_13_all_inputs_at_once_are_9_7_times_as_fast():
    plan = fuse_pointwise(group_gates(forward_plan("lstm", replace(ONE_STEP, T=100))))
    one, all_steps = (Work.of(product(way), H200, 4) for way in (plan, batch_inputs(plan)))
    assert round(100 * one.solo_us / all_steps.solo_us, 1) == 9.7
    assert "9.7 times" in prose("13")


@pytest.mark.parametrize(("minibatch", "stated"), [(1, 3.1), (16, 1.65), (64, 1.03)])
def test_lesson_13_the_gradients_gain_for_small_minibatches(minibatch, stated):
    base = {"direction": "backward", "device": "M40", "layers": 1, "steps": 20, "streams": 2}
    base |= {"group_gates": True, "fuse_pointwise": True, "minibatch": minibatch}
    assert round(faster(base, {"weight_gradient_after_loop": True}), 2) == pytest.approx(stated, abs=0.02)


def test_lesson_12_four_gates_take_1_13_times_one_gates_time_without_a_second_round():
    naive = forward_plan("lstm", ONE_STEP)
    one, four = (Work.of(product(plan), M40, 4) for plan in (naive, group_gates(naive)))
    assert (one.blocks, four.blocks, M40.multiprocessors) == (8, 32, 24)
    assert round(four.solo_us / one.solo_us, 2) == 1.13
    assert "1.13 times" in prose("12")


def test_lesson_12_the_gains_left_at_2048_units_and_256_sequences():
    steps = {}, {"group_gates": True}, {"streams": 2}, {"fuse_pointwise": True}
    for device, stated in (("M40", (1.19, 1.12, 1.02)), ("H200", (1.81, 1.21, 1.03))):
        base = {"device": device, "layers": 1, "hidden_size": 2048, "minibatch": 256, "steps": 20}
        gains = []
        for move in steps[1:]:
            gains.append(round(faster(base, move), 2))
            base |= move
        assert tuple(gains) == stated
        assert all(f"{gain:g}" in prose("12") for gain in stated)


def test_lesson_13_transposing_pays_off_from_six_steps_on():
    plan = fuse_pointwise(group_gates(forward_plan("lstm", replace(ONE_STEP, T=3))))
    once = transpose_once(plan)
    slow, fast = ([op for op in way.operations if op.kind == "gemm"][-1] for way in (plan, once))
    transposition = next(op for op in once.operations if op.kind == "transpose")
    price = Work.of(transposition, M40, 4).solo_us + M40.node
    gain = Work.of(slow, M40, 4).solo_us - Work.of(fast, M40, 4).solo_us
    assert ceil(price / gain) == 6
    assert 5 * gain < price < 6 * gain
    assert transposition.writes[0].size == 4 * 512**2


def test_lesson_13_batched_inputs_make_layer_1_wait_for_the_last_step():
    two = fuse_pointwise(group_gates(forward_plan("lstm", Sizes(4, 2, 3, 5, 2))))
    for way, last in ((two, 0), (batch_inputs(two), 3)):
        first = next(k for k, operation in enumerate(way.operations) if operation.layer == 1)
        awaited = (way.operations[k] for k in dependencies(way)[first])
        assert max(operation.steps[1] for operation in awaited if operation.layer == 0) - 1 == last


@pytest.mark.parametrize(
    ("direction", "device", "stated"),
    [
        ("forward", "M40", (1.09, 1.35, 1.00)),
        ("forward", "H200", (1.11, 1.78, 1.00)),
        ("backward", "M40", (1.00, 1.53, 1.08)),
        ("backward", "H200", (1.00, 1.83, 1.03)),
    ],
)
def test_lesson_13_batched_inputs_gain_most_in_both_directions(direction, device, stated):
    base = {"direction": direction, "device": device, "layers": 1, "steps": 100}
    base |= {"group_gates": True, "fuse_pointwise": True}
    gains = []
    for move in ({"transpose_once": True}, {"batch_inputs": "T"}, {"weight_gradient_after_loop": True}):
        gains.append(round(faster(base, move), 2))
        base |= move
    assert tuple(gains) == stated
    assert direction == "forward" or f"{stated[1]:.2f}" in prose("13")  # forward the cell alone prints them


def test_lesson_14_without_batched_inputs_the_pass_is_faster_and_the_wavefront_gains_little():
    base = {
        "layers": 4,
        "hidden_size": 512,
        "minibatch": 64,
        "device": "H200",
        "streams": 2,
        "wavefront": True,
    }
    base |= {"group_gates": True, "fuse_pointwise": True, "transpose_once": True, "batch_inputs": 2}
    for steps, share, order in ((10, 0.87, 1.02), (50, 0.97, 1.19), (100, 0.98, 1.24)):
        settings = base | {"steps": steps}
        assert round(1 / faster(settings, {"batch_inputs": "off"}), 2) == share
        assert round(1 / faster(settings, {"wavefront": False}), 2) == order
    assert all(number in prose("14") for number in ("0.87", "1.02 to 1.24"))
    full = base | {"steps": 10, "hidden_size": 2048, "minibatch": 256}
    assert 1 / faster(full, {"wavefront": False}) == pytest.approx(1.003, abs=5e-4)


def test_lesson_17_128_gpus_at_4_sequences_deliver_less_than_16_at_64():
    from rnncourse.scaling import published
    from rnncourse.scaling.model import Training, strong_scaling

    few, many = {}, {}
    for name, rates in published.RATES.items():
        few[name] = round(strong_scaling(Training(batch=1024), (16,), rates)[0].tflops)
        many[name] = round(strong_scaling(Training(batch=512), (128,), rates)[0].tflops)
    assert few == {"persistent": 59, "GEMM, figure": 36, "GEMM, text": 36}
    assert many == {"persistent": 452, "GEMM, figure": 30, "GEMM, text": 23}
    assert "23 to 30 TFLOP/s against 36" in prose("17")
