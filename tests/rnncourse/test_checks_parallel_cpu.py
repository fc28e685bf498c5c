"""What the checks of lesson 07 stand on: loads counted by hand, races that may be repeated, odd answers."""

import numpy as np
import pytest
from values_in import holds

from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from rnncourse.checks.parallel_cpu import ANSWERS, EXERCISES, _draw_gradients, _shows_order, _uneven
from rnncourse.checks.parallel_cpu import choose_schedule as schedules
from rnncourse.loop_nests import race as racing
from rnncourse.loop_nests import read

GOOD = {"tile": {"m": 4, "n": 16}, "vectorise": 8}
SIZES = (64, 96, 32)
EXERCISE = {exercise.name: exercise for exercise in EXERCISES}


@pytest.mark.parametrize(
    ("schedule", "loads"),
    [
        ({"tile": {"n": 8}, "vectorise": 8}, 2),  # a vector of b and a number of a for 1 multiply-add
        (GOOD, 6 / 8),  # 4 rows by 2 vectors
        ({"tile": {"m": 9, "n": 48}, "vectorise": 16}, 12 / 27),  # docs/halide.md
        (GOOD | {"order": "mkn"}, 6 / 8 + 2),  # each sum is read and written as well
    ],
)
def test_loads_are_those_counted_by_hand(schedule, loads):
    assert schedules.loads(read(schedule, SIZES)) == pytest.approx(loads)


def test_the_fewest_loads_of_32_registers_are_those_of_5_rows_by_5_vectors():
    assert schedules._fewest(576, 576, 16, 32) == pytest.approx(10 / 25)


@pytest.mark.parametrize(
    "odd", [None, 7, [4, 16], {"tile": [4, 16]}, {"tile": {"m": "4"}}, {"order": 3}, {"tile": {"x": 1}}]
)
def test_what_is_no_schedule_is_wrong_in_words(odd):
    def choose_schedule(*arguments):
        return odd

    verdict = judge(EXERCISE["choose_schedule"], InProcess(choose_schedule), seed=0)
    assert not verdict.passed
    assert "Such a schedule cannot be" in verdict.message


def _raced(monkeypatch, ratios):
    remaining = iter(ratios)
    monkeypatch.setattr(schedules, "_fast", set())
    outcome = lambda ratio: racing.Race("numba", ratio, 1.0, 0.0, 1)
    monkeypatch.setattr(racing, "race", lambda *_, **__: outcome(next(remaining)))
    return remaining


def test_a_race_lost_to_another_program_is_run_again(monkeypatch):
    left = _raced(monkeypatch, [2.0, 3.9, 4.1, 99.0])
    assert schedules._slow(GOOD) is None
    assert next(left) == 99.0


def test_a_schedule_that_never_wins_fails_and_the_ratio_is_said(monkeypatch):
    _raced(monkeypatch, [2.0] * schedules.RACES)
    assert holds(schedules._slow(GOOD).message, "2.0")


def test_numbers_of_numpy_make_a_schedule_too(monkeypatch):
    _raced(monkeypatch, [9.0])

    def choose_schedule(*arguments):
        plain = ANSWERS["choose_schedule"].function(*arguments)
        tile = {loop: np.int64(size) for loop, size in plain["tile"].items()}
        return plain | {"tile": tile, "parallel": np.bool(plain["parallel"])}

    assert judge(EXERCISE["choose_schedule"], InProcess(choose_schedule), seed=1).passed


def test_a_sum_in_float64_that_is_rounded_once_is_right_in_any_order():
    rounded = lambda threads, gradients: gradients[::-1].astype("float64").sum(0).astype("float32")
    ordered = lambda threads, gradients: rounded(threads, gradients[np.argsort(threads)])
    assert judge(EXERCISE["sum_gradients"], InProcess(ordered, "sum_gradients"), seed=1).passed


def test_gradients_with_one_sum_in_every_order_are_drawn_again():
    drawn = [_draw_gradients(np.random.default_rng(seed), 3, (4, 3)) for seed in range(400)]
    assert all(_shows_order(one, orders) for *kinds, orders in drawn for one in kinds)


@pytest.mark.parametrize(
    ("shares", "text"),
    [
        ([(0, 3), (3, 7)], None),
        ([[0, 4], [4, 7]], None),
        (((np.int64(0), np.int64(4)), (4, 7)), None),
        ([(0, 2), (2, 7)], "Shares of 2 and of 5"),
        ([(0, 7)], "1 shares where 2"),
        ([(0, 4), (3, 7)], "each sequence once"),
        ([(0, 7), (7, 7)], "no sequence"),
        ([0, 4, 7], "list of pairs"),
        (None, "list of pairs"),
    ],
)
def test_shares_of_seven_sequences_for_two_threads(shares, text):
    problem = _uneven(shares, 7, 2)
    assert (problem is None) if text is None else text in problem
