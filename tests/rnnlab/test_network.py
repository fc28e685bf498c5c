"""Networks are what they say: shapes, initial values, counts, and a sentence for every mistake."""

import numpy as np
import pytest

from rnnlab.cells import find_cell, modes
from rnnlab.network import (
    Network,
    forward_flops,
    parameter_count,
    parameter_shapes,
)


def test_parameters_have_pytorchs_names_shapes_and_order():
    assert parameter_shapes("gru", 4, 3, 2) == {
        "weight_ih_l0": (9, 4),
        "weight_hh_l0": (9, 3),
        "bias_ih_l0": (9,),
        "bias_hh_l0": (9,),
        "weight_ih_l1": (9, 3),
        "weight_hh_l1": (9, 3),
        "bias_ih_l1": (9,),
        "bias_hh_l1": (9,),
    }


def test_orthogonal_recurrent_weights_have_the_stated_gain_gate_by_gate():
    network = Network.create("lstm", 4, 6, 2, dtype="float64", init="orthogonal", gain=1.3)
    for layer in range(2):
        for block in np.split(network.layer(layer).weight_hh, 4):
            assert np.allclose(block @ block.T, 1.3**2 * np.eye(6), atol=1e-12)
        assert not network.layer(layer).bias_ih.any()


def test_uniform_parameters_fill_pytorchs_interval_and_no_more():
    values = np.concatenate([p.ravel() for p in Network.create("gru", 50, 64, gain=2.0).parameters.values()])
    assert 0.99 * 2 / 8 < np.abs(values).max() <= 2 / 8
    assert abs(values.mean()) < 0.005
    assert values.std() == pytest.approx(2 / 8 / 3**0.5, rel=0.02)


def test_the_seed_alone_decides():
    one, same, other = (Network.create("gru", 3, 4, seed=seed) for seed in (1, 1, 2))
    assert all(np.array_equal(one.parameters[k], same.parameters[k]) for k in one.parameters)
    assert not np.array_equal(one.parameters["weight_hh_l0"], other.parameters["weight_hh_l0"])


@pytest.mark.parametrize("cell", modes())
def test_counts_agree_with_a_count_by_hand(cell):
    G, I, H, L, T, B = len(find_cell(cell).gates), 5, 7, 2, 11, 3
    network = Network.create(cell, I, H, L)
    R = len(find_cell(cell).recurrent_gates)
    assert parameter_count(network) == G * H * (I + 1) + R * H * (H + 1) + G * H * (H + 1) + R * H * (H + 1)
    assert forward_flops(network, T, B) == 2 * T * B * H * (G * (I + H) + R * (H + H))


def test_a_state_of_zeros_has_one_array_for_each_state_of_the_cell():
    for cell in modes():
        state = Network.create(cell, 3, 4, 2).zero_state(5)
        assert [part.shape for part in state] == [(2, 5, 4)] * len(find_cell(cell).states)


def test_a_change_of_dtype_rounds_and_keeps_the_rest():
    network = Network.create("gru", 3, 4, 2, reset="before", dtype="float64")
    rounded = network.astype("float32")
    assert (rounded.dtype, rounded.reset, rounded.layers) == ("float32", "before", 2)
    assert rounded.parameters["bias_hh_l1"].dtype == "float32"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cell": "grru"}, "cell is 'grru', expected one of rnn_tanh, rnn_relu, gru, lstm"),
        ({"hidden_size": 0}, "hidden_size is 0, expected a whole number of at least 1"),
        ({"layers": 1.5}, "layers is 1.5, expected a whole number"),
        ({"reset": "never"}, "reset is 'never', expected one of after, before"),
        ({"dtype": "float16"}, "dtype is 'float16', expected one of float32, float64"),
        ({"dtype": "bfloat16"}, "dtype is 'bfloat16', expected one of float32, float64"),
        ({"gain": np.nan}, "gain is nan, expected a finite number"),
        ({"init": "zeros"}, "init is 'zeros', expected one of uniform, orthogonal"),
    ],
)
def test_a_bad_choice_is_named_with_the_good_ones(change, message):
    with pytest.raises(ValueError, match=message):
        Network.create(**{"cell": "gru", "input_size": 3, "hidden_size": 4} | change)


def test_parameters_that_do_not_fit_are_named():
    network = Network.create("rnn_tanh", 3, 4)
    for change, message in [
        (
            {"weight_hh_l0": np.zeros((4, 3), "float32")},
            r"weight_hh_l0 has shape \(4, 3\), expected \(4, 4\)",
        ),
        ({"bias_hh_l0": np.zeros(4)}, "bias_hh_l0 has dtype float64, the network computes in float32"),
        ({"bias_ih_l0": np.array([0, np.inf, 0, 0], "float32")}, r"bias_ih_l0 holds inf at index \(1,\)"),
        ({"weight_ih_l1": np.zeros((4, 4), "float32")}, "parameters hold weight_ih_l1, which a 1-layer"),
    ]:
        with pytest.raises(ValueError, match=message):
            network.with_parameters(network.parameters | change)
    with pytest.raises(ValueError, match="bias_hh_l0"):
        network.with_parameters({k: v for k, v in network.parameters.items() if k != "bias_hh_l0"})
