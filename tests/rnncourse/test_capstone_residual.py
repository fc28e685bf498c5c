"""The residual RNN against central differences and the reference; recomputation changes memory and no bit."""

import tracemalloc

import numpy as np
import pytest
from values_in import holds

from drawings.residual import LENGTH, SEGMENTS, residual_layers
from rnncourse.capstone.residual import Residual, gradient_norms, saved_bytes
from rnncourse.checks.lesson_19_capstone import _wrong_segments
from rnnlab import reference
from rnnlab.network import Network


def passes(rung, network, x, dy, state=None):
    y, final, saved = rung.forward(network, x, state)
    return y, final, *rung.backward(network, saved, dy)


def data(network, T=5, B=3):
    rng = np.random.default_rng([T, B, network.layers])
    draw = lambda *shape: rng.uniform(-1, 1, shape)
    state = tuple(draw(network.layers, B, network.hidden_size) for _ in network.zero_state(B))
    return draw(T, B, network.input_size), draw(T, B, network.hidden_size), state


@pytest.mark.parametrize(("cell", "inputs"), [("rnn_tanh", 4), ("rnn_tanh", 3), ("gru", 4), ("lstm", 2)])
def test_gradients_agree_with_central_differences(cell, inputs):
    network = Network.create(cell, inputs, 4, layers=3, dtype="float64", seed=1)
    x, dy, state = data(network)
    _, _, dx, dstate, gradients = passes(Residual(), network, x, dy, state)
    loss = lambda x, network, state: float((Residual().forward(network, x, state)[0] * dy).sum())
    slope = lambda function, array: reference.numerical_gradient(function, array)
    np.testing.assert_allclose(dx, slope(lambda x: loss(x, network, state), x), atol=1e-8)
    first = slope(lambda h: loss(x, network, (h, *state[1:])), state[0])
    np.testing.assert_allclose(dstate[0], first, atol=1e-8)
    for name in ("weight_hh_l0", "weight_ih_l1", "bias_hh_l2"):
        changed = lambda p, name=name: loss(x, network.with_parameters(network.parameters | {name: p}), state)
        np.testing.assert_allclose(gradients[name], slope(changed, network.parameters[name]), atol=1e-8)


def test_without_skips_it_is_the_reference():
    network = Network.create("lstm", 3, 4, layers=3, dtype="float64")
    x, dy, state = data(network)
    y, final, saved = reference.forward(network, x, state)
    want = y, final, *reference.backward(network, saved, dy)
    for got, right in zip(passes(Residual(skips=False), network, x, dy, state), want, strict=True):
        if isinstance(right, dict):
            assert list(got) == list(right)
            got, right = tuple(got.values()), tuple(right.values())
        for one, other in zip(np.atleast_1d(got) if isinstance(got, np.ndarray) else got, right, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("segment", [1, 2, 3, 6, 7, 100])
def test_recomputation_changes_no_bit(segment):
    network = Network.create("gru", 4, 4, layers=7)
    x, dy, state = (
        tuple(p.astype("float32") for p in part) if isinstance(part, tuple) else part.astype("float32")
        for part in data(network)
    )
    plain = passes(Residual(), network, x, dy, state)
    again = passes(Residual(segment=segment), network, x, dy, state)
    assert np.array_equal(plain[0], again[0])
    assert np.array_equal(plain[2], again[2])
    assert all(np.array_equal(plain[4][name], again[4][name]) for name in network.parameters)


def test_the_memory_that_recomputation_saves_is_what_is_counted():
    network = Network.create("rnn_tanh", 32, 32, layers=24)
    x = np.ones((20, 128, 32), "float32")
    sizes = {}
    for segment in (24, 4):
        tracemalloc.start()
        results = Residual(segment=segment).forward(network, x)
        sizes[segment] = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        del results
    counted = saved_bytes(network, 20, 128) - saved_bytes(network, 20, 128, 4)
    assert sizes[24] - sizes[4] == pytest.approx(counted, rel=0.02)


def test_the_backward_pass_lets_go_of_each_layer_and_a_second_one_computes_it_again():
    network, rung = Network.create("rnn_tanh", 4, 4, layers=5, seed=1), Residual(segment=2)
    x = np.random.default_rng(1).normal(size=(3, 2, 4)).astype("float32")
    y, _, saved = rung.forward(network, x)
    once = rung.backward(network, saved, y)
    assert not saved.layers
    again = rung.backward(network, saved, y)
    assert np.array_equal(once[0], again[0])
    assert all(np.array_equal(once[2][name], again[2][name]) for name in network.parameters)


def test_the_counts_of_saved_bytes_are_those_of_a_small_network():
    network = Network.create("rnn_tanh", 8, 8, layers=12)
    array = 4 * 5 * 2 * 8
    assert saved_bytes(network, 5, 2) == 24 * array
    assert saved_bytes(network, 5, 2, 3) == (6 + 3) * array  # y and h of a segment, inputs of three others
    assert saved_bytes(network, 5, 2, 5) == (10 + 2) * array


def arrays_at_once(layers, segment=None):
    """Arrays [T,B,H] that are counted to be live at once."""
    network = Network.create("rnn_tanh", 3, 3, layers=layers)
    return saved_bytes(network, 5, 2, segment) // (5 * 2 * 3 * np.dtype(network.dtype).itemsize)


@pytest.mark.parametrize(("length", "segments"), [(3, 3), (1, 5), (7, 1), (10, 4)])
def test_the_exercises_rule_of_memory_is_what_recomputation_is_counted_to_need(length, segments):
    lengths, needed = [length] * segments, arrays_at_once(length * segments, length)
    problem = _wrong_segments(lengths, lengths, sum(lengths), needed - 1)
    assert holds(problem, *map(str, (segments - 1, length, 2 * length, segments - 1, needed, needed - 1)))


def test_the_drawing_of_segments_shows_as_many_arrays_as_are_counted():
    layers, recomputed = SEGMENTS * LENGTH, 3  # the third segment is being recomputed
    counted = arrays_at_once(layers), arrays_at_once(recomputed * LENGTH, LENGTH)
    assert counted == (24, 8)
    assert holds(residual_layers().alt, *map(str, counted))


def test_skips_hand_the_gradient_down_a_hundred_layers():
    norms = {}
    for skips, gain in ((True, 0.1), (False, 1.0)):
        network = Network.create("rnn_tanh", 16, 16, layers=100, dtype="float64", gain=gain)
        x, dy, _ = data(network, 4, 2)
        norms[skips] = gradient_norms(network, passes(Residual(skips), network, x, dy)[4])
    assert 0.2 < norms[True][0] / norms[True][-1] < 5
    assert norms[False][0] / norms[False][-1] < 1e-12


@pytest.mark.parametrize("segment", [0, -1, 2.5, True])
def test_a_segment_that_is_no_number_of_layers_is_refused(segment):
    with pytest.raises(ValueError, match=rf" {segment}\b"):
        Residual(segment=segment)


def test_the_norm_of_gradients_whose_squares_float32_cannot_hold_is_their_norm():
    network = Network.create("rnn_tanh", 4, 4, layers=2)
    gradients = {
        "weight_hh_l0": np.full((4, 4), 1e-24, "float32"),
        "weight_hh_l1": np.eye(4, dtype="float32"),
    }
    np.testing.assert_allclose(gradient_norms(network, gradients), [4e-24, 2.0], rtol=1e-5)
