"""What the checks of lesson 07 stand on: sums whose order shows, shares of every kind."""

import numpy as np
import pytest

from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from rnncourse import checks
from rnncourse.checks.lesson_07_parallel_cpu import _draw_gradients, _shows_order, _uneven

EXERCISE = {exercise.name: exercise for exercise in checks.exercises("parallel_cpu")}


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
