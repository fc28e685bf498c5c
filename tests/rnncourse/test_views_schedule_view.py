"""The schedule view: its numbers against hand counts, its switches, its pixels, its published figures."""

from dataclasses import replace
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest
from values_in import holds

from pocketgpu.devices import find
from rnncourse.views import schedule_drawing
from rnncourse.views.published_timelines import FIGURES, published
from rnncourse.views.schedule_drawing import Bars, mixed, scaled
from rnncourse.views.schedule_view import (
    LAUNCHES,
    SWITCHES,
    Settings,
    draw_schedule,
    explore_schedule,
    finding,
    prediction,
    shown_part,
    stage_numbers,
    stage_times,
)
from rnnlab.ladder import stage_passes
from rnnlab.schedule import stages
from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.timeline import predict

SMALL = {"layers": 2, "hidden_size": 32, "minibatch": 16, "steps": 4}


def test_an_lstm_launches_25_kernels_a_cell_forward_and_36_backward():
    assert prediction(Settings(**SMALL)).launches == 25 * 2 * 4
    assert prediction(Settings(**SMALL, direction="backward")).launches == 36 * 2 * 4


def test_a_naive_pass_whose_kernels_are_short_takes_a_launch_each_and_the_last_kernel():
    settings = Settings(cell="rnn_tanh", layers=1, hidden_size=32, minibatch=1, steps=10)
    result, device = prediction(settings), find("H200")
    assert result.launches == 50
    assert 0 < result.makespan - 50 * device.launch < device.launch
    assert result.idle > 0.3


def settings_of_stage(stage, **sizes):
    """The settings under which the view shows a stage; TypeError for a pass without a switch."""
    positions = {}
    for change in stage_passes()[stage]:
        name, options = getattr(change, "func", change).__name__, getattr(change, "keywords", {})
        name = {"assign_streams": "streams", "capture": "graph"}.get(name, name)
        chosen = {"batch_inputs": options.get("steps") or "T", "streams": options.get("per_layer", 2)}
        positions[name] = chosen.get(name, True)
    return Settings(**sizes, **positions)


@pytest.mark.parametrize("stage", stage_passes())
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_the_switches_of_a_stage_predict_what_its_own_passes_predict(stage, direction):
    result = prediction(settings_of_stage(stage, **SMALL, direction=direction))
    plan = stages.plan_for(direction, "lstm", Sizes(4, 16, 32, 32, 2), stage_passes()[stage])
    timeline = predict(plan, find("H200"))
    assert result.launches == plan.count()
    assert result.makespan == pytest.approx(timeline.makespan)
    assert result.tflops == pytest.approx(timeline.tflops)


def test_a_long_pass_is_shown_by_its_first_steps_and_the_view_says_so():
    settings = Settings(layers=4, steps=100)
    shown = shown_part(settings)
    assert shown.steps == 14
    assert 1300 < prediction(shown).launches <= LAUNCHES
    assert holds(finding(settings), "14", "100", "1400")
    assert "the first 14 of 100 steps" in draw_schedule(settings).html
    assert shown_part(shown) == shown
    assert "the first" not in finding(shown)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("cell", ["gru_after", "lstm"])
def test_every_position_of_the_switches_has_a_timeline(cell, direction):
    choices = [switche.values[:: max(1, len(switche.values) - 1)] for switche in SWITCHES.values()]
    for chosen in product(*choices):
        switches = dict(zip(SWITCHES, chosen, strict=True))
        sizes = {"layers": 2, "hidden_size": 32, "minibatch": 4, "steps": 3}
        result = prediction(Settings(direction, cell, **sizes, **switches))
        assert result.makespan > 0
        assert result.launches == len(result.bars.row)


@pytest.mark.corpus
@pytest.mark.parametrize(
    "steps", [1, pytest.param(3, marks=pytest.mark.slow), pytest.param(9, marks=pytest.mark.slow), 12]
)
@pytest.mark.parametrize("layers", [1, pytest.param(2, marks=pytest.mark.slow), 4])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("cell", ["rnn_tanh", "gru_after", "lstm"])
def test_bytes_and_flops_of_long_passes_are_those_of_their_plans(cell, direction, layers, steps):
    build = {"forward": forward_plan, "backward": backward_plan}[direction]
    sizes = Sizes(steps, 4, 8, 8, layers)
    for stage in stage_numbers(direction, cell, sizes):
        plan = stages.apply(build(cell, sizes), stage_passes()[stage.name])
        assert (stage.launches, stage.bytes, stage.flops) == (plan.count(), plan.bytes(), plan.flops)


def test_the_times_beside_the_stages_are_those_of_the_steps_that_are_shown():
    settings = Settings(**SMALL)
    times = stage_times("forward", "lstm", settings.sizes, "H200")
    drawn = draw_schedule(settings).html
    for stage, time in times.items():
        assert time == pytest.approx(prediction(settings_of_stage(stage, **SMALL)).makespan)
        assert f"{time / 1e3:.3g} ms" in drawn
    assert "4 steps" in drawn


def test_the_legend_names_the_kinds_that_occur():
    naive, transposed = (draw_schedule(Settings(**SMALL, transpose_once=once)).html for once in (False, True))
    assert ">transpose<" not in naive
    assert ">transpose<" in transposed


def test_pixels_mix_what_runs_in_them():
    array = np.array
    bars = Bars(
        ("row",),
        array([0, 0]),
        array([0, 1]),
        array([0.0, 3.0]),
        array([1.0, 4.0]),
        array([2.0, 4.0]),
        1.0,
        "ab",
    )
    blue, orange, grey = (schedule_drawing.COLOURS[k] for k in (0, 1, schedule_drawing.HOST))
    image = mixed(bars, 4.0, pixels=2)
    np.testing.assert_allclose(image[1], [(1 + blue) / 2, (1 + orange) / 2])
    np.testing.assert_allclose(image[0], [(1 + grey) / 2, (1 + grey) / 2])


def test_no_more_bars_are_drawn_than_are_seen():
    settings = Settings(cell="lstm", layers=1, hidden_size=32, minibatch=1, steps=20)
    drawn = draw_schedule(settings, look_at=50, launches_shown=25).html
    assert 25 <= drawn.count("<title>host issues") <= 27
    assert 25 <= drawn.count(", layer 0, step 1") <= 27


def test_published_figures_are_found_by_their_settings_and_by_no_others():
    for where, switches, figure in FIGURES:
        settings = Settings(**where, **switches)
        assert published(settings) == figure
        assert published(replace(settings, hidden_size=256)) is None
        assert published(replace(settings, graph=True)) is None


def test_the_time_of_lstm_cu_stands_beside_its_prediction():
    settings = Settings(**FIGURES[4][0], **FIGURES[4][1])
    assert prediction(settings).makespan == pytest.approx(27.8e3, rel=0.25)
    assert holds(finding(settings), "27.8", "LSTM", "M40")
    assert finding(settings).startswith("Predicted for M40, not measured")


@pytest.mark.usefixtures("in_a_kernel")
def test_only_the_named_switches_are_shown_and_a_start_stays_where_nothing_moves_it():
    view = explore_schedule(("group_gates",), ("minibatch",), **SMALL, fuse_pointwise=True)
    image, line, minibatch, gates, _look_at, _shown = view.box.children
    naive = Settings(**SMALL, fuse_pointwise=True)
    assert finding(naive).split(" a pass")[0] in line.value
    before = image.value
    gates.value = True
    assert f"{prediction(replace(naive, group_gates=True)).launches} launches" in line.value
    assert image.value != before
    minibatch.value = 64
    assert image.value != before


@pytest.mark.usefixtures("in_a_kernel")
def test_a_start_that_no_slider_has_is_added_and_a_wrong_word_is_refused():
    view = explore_schedule((), ("steps",), **{**SMALL, "steps": 7})
    assert view.box.children[2].value == 7
    with pytest.raises(ValueError, match=r"'RTX'.*TitanX"):
        explore_schedule((), ("device",), **SMALL, device="RTX")


def test_the_picture_is_well_formed_and_names_every_row():
    drawn = draw_schedule(settings_of_stage("layer_wavefront", **SMALL))
    words = [
        entry.text for entry in ElementTree.fromstring(drawn.html).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert {"host", "layer 0", "layer 1, beside", "fused_layer", "transpose", "0"} <= set(words)


def test_a_number_carries_its_prefix():
    assert [scaled(n, "B") for n in (0, 999, 12_345, 1.28e9)] == ["0 B", "999 B", "12.3 kB", "1.28 GB"]
