"""What a step computes, in the equations' own words; the rest of the cells is held by test_reference."""

import numpy as np
import pytest

from rnnlab import cells


def test_the_derivative_of_relu_is_one_where_h_is_positive_and_not_h():
    h = np.array([[0.0, 2.0, 0.5]])
    stored = cells.SavedStep((np.zeros((1, 3)),), h, None)
    dgates, _, _ = cells.backward("rnn_relu", (np.ones((1, 3)),), stored, np.zeros((3, 3)))
    assert dgates.tolist() == [[0.0, 1.0, 1.0]]


def test_sigmoid_is_exact_where_the_exponential_would_overflow():
    a = np.array([-1e4, -800.0, 0.0, 800.0, 1e4])
    assert cells.sigmoid(a).tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]
    small = np.linspace(-6, 6, 41)
    assert np.allclose(cells.sigmoid(small), 1 / (1 + np.exp(-small)), rtol=1e-14)


def test_both_gru_forms_agree_where_the_recurrent_weights_are_diagonal_and_unbiased():
    rng = np.random.default_rng(0)
    H = 4
    gates_x, h = rng.normal(size=(2, 3 * H)), rng.normal(size=(2, H))
    weight = np.concatenate([rng.normal(size=(2 * H, H)), np.diag(rng.normal(size=H))])
    bias = np.concatenate([rng.normal(size=2 * H), np.zeros(H)])
    after, before = (cells.forward("gru", gates_x, (h,), weight, bias, r)[0][0] for r in ("after", "before"))
    assert np.allclose(after, before, rtol=1e-14)
    full = rng.normal(size=(3 * H, H))
    after, before = (cells.forward("gru", gates_x, (h,), full, bias, r)[0][0] for r in ("after", "before"))
    assert not np.allclose(after, before)


@pytest.mark.parametrize(("cell", "reset"), [("gru", "before"), ("gru", "after"), ("lstm", "after")])
def test_recurrent_inputs_are_what_the_recurrent_weights_multiplied(cell, reset):
    rng = np.random.default_rng(1)
    H, G = 3, len(cells.find_cell(cell).gates)
    state = tuple(rng.normal(size=(2, H)) for _ in cells.find_cell(cell).states)
    weight, bias = rng.normal(size=(G * H, H)), np.zeros(G * H)
    _, stored = cells.forward(cell, rng.normal(size=(2, G * H)), state, weight, bias, reset)
    factors = cells.recurrent_inputs(cell, stored, reset)
    r = stored.gates[:, :H]
    assert len(factors) == G
    assert np.array_equal(factors[-1], r * state[0] if reset == "before" else state[0])
    assert all(np.array_equal(factor, state[0]) for factor in factors[:-1])
