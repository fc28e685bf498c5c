"""What the checks of lesson 03 stand on: the tiny network, the rows of photographs, the yardsticks."""

import numpy as np
import pytest
from values_in import holds

from nbjudge.authoring.course import ROOT
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from nbjudge.verdict import Status
from rnncourse import checks
from rnncourse.checks.lesson_03_training import train_filter
from rnncourse.checks.lesson_03_training.photograph_rows import (
    Rows,
    draw_rows,
    error_on,
    error_without_memory,
    mean_square,
    response_to_one_pixel,
    untrained,
)
from rnncourse.checks.lesson_03_training.tiny_rnn import loss_and_gradients
from rnnlab import reference
from rnnlab.tasks.photographs import brightness

KERNEL = np.array([0.7, -0.2, 1.3])


@pytest.fixture
def rows():
    return draw_rows(np.random.default_rng(1), KERNEL, T=9, count=5, split="train")


def test_the_notebook_shows_the_very_network_that_the_check_hands_over():
    shown = (ROOT / "solutions/source/03_training/train_filter.py").read_text(encoding="utf-8")
    assert train_filter.TINY_RNN.source.split("\n\n\n")[1].strip() in shown


@pytest.mark.parametrize("name", ["weight_ih", "weight_hh", "bias", "weight_out", "bias_out"])
def test_the_tiny_network_gives_the_slope_of_its_loss(rows, name):
    parameters = untrained(np.random.default_rng(2), H=4)
    loss = lambda array: loss_and_gradients(parameters | {name: array}, *rows)[0]
    expected = reference.numerical_gradient(loss, parameters[name], 1e-5)
    got = loss_and_gradients(parameters, *rows)[1][name]
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-10)


def test_the_tiny_network_computes_what_the_reference_computes(rows):
    parameters = untrained(np.random.default_rng(3), H=5)
    assert loss_and_gradients(parameters, *rows)[0] == pytest.approx(error_on(parameters, rows), rel=1e-12)


def test_a_target_is_its_row_filtered_from_left_to_right(rows):
    for x, target in zip(rows.x[..., 0].T, rows.target[..., 0].T, strict=True):
        np.testing.assert_allclose(target, np.convolve(x, KERNEL)[: len(x)], atol=1e-12)


def test_every_stretch_stands_in_its_photograph(rows):
    photograph = brightness("train")
    windows = np.lib.stride_tricks.sliding_window_view(photograph, 9, axis=1)
    for stretch in rows.x[..., 0].T:
        assert (windows == stretch).all(axis=-1).any()


def test_no_straight_line_fits_the_training_rows_better_than_the_baselines(rows):
    best = error_without_memory(rows, rows)
    slope, level = np.polyfit(rows.x.ravel(), rows.target.ravel(), 1)
    for tilt, lift in ((0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)):
        line = (slope + tilt) * rows.x + level + lift
        assert mean_square(line - rows.target) > best


def test_the_baseline_of_a_filter_without_memory_is_perfect():
    rows = draw_rows(np.random.default_rng(4), np.array([2.0, 0.0, 0.0]), T=6, count=20, split="test")
    assert error_without_memory(rows, rows) < 1e-20


def test_the_response_of_a_network_set_by_hand_is_its_kernel():
    small = 1e-4
    parameters = {
        "weight_ih": np.array([[small], [0.0], [0.0]]),
        "weight_hh": np.eye(3, k=-1),
        "bias": np.zeros(3),
        "weight_out": KERNEL[np.newaxis] / small,
        "bias_out": np.array([0.3]),
    }
    np.testing.assert_allclose(response_to_one_pixel(parameters), [*KERNEL, 0], atol=1e-6)


def test_a_perfect_network_is_told_from_one_that_trained_on_the_wrong_step():
    alike = train_filter._alike
    assert alike(np.array([0.7, -0.2, 1.3, 0]), KERNEL) == pytest.approx(1)
    late = np.array([0, 0.7, -0.2, 1.3])
    assert alike(late, [0, *KERNEL]) == pytest.approx(1)
    assert alike(late, KERNEL) < 0.5


def test_a_check_refuses_the_course_s_own_optimiser_as_grading_does():
    def train_filter(x, target, parameters, loss_and_gradients):
        from rnnlab.training import Adam

        return Adam(0.01).start(parameters)

    verdict = judge(checks.find("train_filter")[1], InProcess(train_filter), seed=1)
    assert verdict.status is Status.forbidden
    assert holds(verdict.message, "rnnlab.training")


def test_rows_of_both_photographs_can_be_drawn():
    train, test = (draw_rows(np.random.default_rng(5), KERNEL, 4, 3, split) for split in ("train", "test"))
    assert isinstance(train, Rows)
    assert not np.array_equal(train.x, test.x)


def test_the_statement_of_train_filter_has_the_limit_of_its_check():
    shown = (ROOT / "solutions/source/03_training/train_filter.py").read_text(encoding="utf-8")
    assert f"{checks.find('train_filter')[1].seconds:g} s" in shown
