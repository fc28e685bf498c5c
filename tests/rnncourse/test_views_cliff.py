"""The cliff: its gradient against differences, its descents against their rule, its words."""

import numpy as np
import pytest

from rnncourse.views import cliff
from rnncourse.views.cliff import LIMITS, RATES, START, descents, figure_cliff, finding, loss_and_gradient

POINTS = [(0.5, -0.2), (0.97, 0.02), (1.1, 0.3), (1.2, -0.3), (1.8, 0.1)]


@pytest.mark.parametrize(("w", "b"), POINTS)
def test_the_gradient_is_the_slope_of_the_loss(w, b):
    _, dw, db = loss_and_gradient(w, b)
    loss = lambda w, b: loss_and_gradient(w, b)[0]
    eps = 1e-6
    assert dw == pytest.approx((loss(w + eps, b) - loss(w - eps, b)) / (2 * eps), rel=1e-5, abs=1e-9)
    assert db == pytest.approx((loss(w, b + eps) - loss(w, b - eps)) / (2 * eps), rel=1e-5, abs=1e-9)


def test_the_sign_of_b_decides_where_a_unit_with_a_large_weight_settles():
    left, right = loss_and_gradient(2.0, np.array([-0.01, 0.01]))[0]
    assert left > 2
    assert right < 0.1


def test_the_gradient_at_the_cliff_dwarfs_the_one_beside_it():
    on, beside = (np.hypot(*loss_and_gradient(2.0, b)[1:]) for b in (1e-13, 0.3))
    assert on > 1e6 * beside


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("limit", LIMITS)
def test_no_clipped_step_is_longer_than_learning_rate_times_limit(rate, limit):
    w, b, _ = descents(rate, limit)
    assert np.hypot(np.diff(w[:, 1]), np.diff(b[:, 1])).max() <= rate * limit * (1 + 1e-12)


@pytest.mark.parametrize("rate", RATES)
def test_both_descents_start_together_and_the_unclipped_one_follows_its_gradient(rate):
    w, b, losses = descents(rate, 1.0)
    assert np.all(w[0] == START[0])
    assert np.all(b[0] == START[1])
    loss, dw, db = loss_and_gradient(w[:-1, 0], b[:-1, 0])
    np.testing.assert_allclose(w[1:, 0], w[:-1, 0] - rate * dw, rtol=1e-12)
    np.testing.assert_allclose(b[1:, 0], b[:-1, 0] - rate * db, rtol=1e-12)
    np.testing.assert_allclose(losses[:-1, 0], loss)


def test_a_limit_that_no_gradient_reaches_changes_nothing():
    w, _b, losses = descents(0.1, 100.0)
    np.testing.assert_array_equal(w[:, 0], w[:, 1])
    np.testing.assert_array_equal(losses[:, 0], losses[:, 1])


def test_the_losses_that_are_drawn_are_those_of_the_descents_also_below_the_axis():
    _, _, losses = descents(0.1, 1.0)
    assert losses[-1, 1] < cliff.figure_cliff(0.1, 1.0).axes[1].get_ylim()[0]
    drawn = {line.get_label(): line.get_ydata() for line in cliff.figure_cliff(0.1, 1.0).axes[1].lines}
    np.testing.assert_array_equal(drawn["clipped"], losses[:, 1])
    np.testing.assert_array_equal(drawn["unclipped"], losses[:, 0])


def test_clipping_saves_the_descent_that_the_lesson_shows():
    _, _, losses = descents(0.1, 1.0)
    unclipped, clipped = losses[-1]
    assert clipped < 1e-6 < 1e-2 < unclipped
    assert f"ends at {unclipped:.2g}; clipped to length 1" in finding(0.1, 1.0)


def test_the_unclipped_path_is_drawn_as_it_went():
    figure_cliff(0.3, 1.0)
    w, b, _ = descents(0.3, 1.0)
    np.testing.assert_array_equal(cliff._blank()[1]["unclipped"].get_data(), (b[:, 0], w[:, 0]))
