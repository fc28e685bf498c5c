"""The learned filter: its response against kernels set by hand, its recording, its picture."""

import numpy as np
import pytest
from values_in import holds

from rnncourse.views import learned_filter
from rnncourse.views.learned_filter import (
    LAGS,
    UPDATES,
    figure_learned_filter,
    finding,
    impulse_response,
    record,
    watch_learned_filter,
)
from rnnlab.network import Network
from rnnlab.tasks import image_filters
from rnnlab.training.model import Model, evaluate
from rnnlab.training.optimisers import SGD


@pytest.fixture(scope="module")
def recording():
    return record("sobel", seed=1)


@pytest.fixture(scope="module")
def by_hand():
    """Networks that hand the last pixels on from unit to unit, so small that tanh is a straight line."""
    start = Network.create("rnn_tanh", 1, 3, dtype="float64")
    zero = {name: np.zeros_like(array) for name, array in start.parameters.items()}
    small = 1e-4
    weights = {"weight_ih_l0": np.array([[small], [0.0], [0.0]]), "weight_hh_l0": np.eye(3, k=-1)}
    network = start.with_parameters(zero | weights)
    return lambda kernel: Model(network, np.array([kernel]) / small, np.zeros(1))


@pytest.mark.parametrize("kernel", [(1.0, 0.0, -1.0), (1.0, -2.0, 1.0), (0.5, 3.0, -0.25)])
def test_the_response_of_a_network_that_filters_is_the_kernel(by_hand, kernel):
    expected = np.pad(kernel, (0, LAGS - 3))
    np.testing.assert_allclose(impulse_response(by_hand(kernel)), expected, atol=1e-6)


def test_the_response_does_not_depend_on_what_the_network_answers_to_even_grey(by_hand):
    model = by_hand((1.0, 0.0, -1.0))
    shifted = Model(model.network, model.weight_out, model.bias_out + 5)
    np.testing.assert_allclose(impulse_response(shifted), impulse_response(model), atol=1e-9)


def test_a_recording_goes_from_the_untrained_network_to_one_that_beats_the_baseline(recording):
    task = image_filters.task("sobel")
    untrained = Model.create("rnn_tanh", 1, 8, 1, seed=1)
    first, last = recording.snapshots[0], recording.snapshots[-1]
    assert first.updates == 0
    assert first.error == evaluate(untrained, task)
    np.testing.assert_array_equal(first.response, impulse_response(untrained))
    assert last.updates == UPDATES
    assert last.error < 0.1 * recording.baseline
    assert np.abs(last.response - recording.kernel).max() < 0.2


def test_looks_are_in_order_and_none_is_taken_twice(recording):
    updates = [look.updates for look in recording.snapshots]
    assert updates == sorted(set(updates))


def test_the_same_seed_gives_the_same_recording(recording):
    again = record("sobel", seed=1)
    assert [look.error for look in again.snapshots] == [look.error for look in recording.snapshots]


def test_whoever_looks_sees_the_recording_grow_by_one(recording):
    seen = []
    record("sobel", seed=1, look=lambda so_far: seen.append(len(so_far.snapshots)))
    assert seen == list(range(1, len(recording.snapshots) + 1))


def test_another_rule_gives_another_training(recording):
    slower = record("sobel", SGD(0.01), seed=1)
    assert slower.snapshots[-1].error > recording.snapshots[-1].error


@pytest.mark.parametrize("number", [0, 7, -1])
def test_the_picture_holds_the_numbers_of_the_look(recording, number):
    look = recording.snapshots[number]
    left, right = figure_learned_filter(recording, number).axes
    true, network = left.lines[:2]
    np.testing.assert_array_equal(true.get_ydata(), recording.kernel)
    np.testing.assert_array_equal(network.get_ydata(), look.response)
    until, errors = right.lines[0].get_data()
    assert (until[-1], errors[-1]) == (look.updates, look.error)
    assert f"after {look.updates} updates" in left.get_title(loc="left")


def test_the_finding_names_both_answers_and_the_baseline(recording):
    text = finding(recording)
    assert f"After {UPDATES} updates" in text
    assert holds(text, "+1.00", "+0.00", "-1.00")
    assert f"below the baseline's {recording.baseline:.2g}" in text
    assert "not yet below" in finding(recording, 0)


def test_a_training_watched_in_a_terminal_ends_with_its_finding(capsys):
    watched = watch_learned_filter("laplacian")
    assert capsys.readouterr().out.strip() == finding(watched)


def test_a_training_watched_in_a_notebook_redraws_one_picture(monkeypatch, recording):
    shown = []
    monkeypatch.setattr(learned_filter, "_screen", lambda: shown.append)
    watched = watch_learned_filter("sobel", seed=1)
    assert [p.alt for p in shown] == [finding(watched, n) for n in range(len(watched.snapshots))]
    assert shown[0].png != shown[-1].png
