"""Weights of 16 and 8 bits: their formats, the steps that are computed with them, and that none is stale."""

import os
import subprocess
import sys

import numpy as np
import pytest

from rnnlab import Inference, Network, reference
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.narrow import halve, quantize, widen

CELLS = ["rnn_tanh", "rnn_relu", "gru", "lstm"]
DIGEST = """
import hashlib, numpy as np
from rnnlab import Inference, Network
network = Network.create("lstm", 70, 33, 2, seed=5)
draw = np.random.default_rng(6)
answer = Inference(network, weights="int8")._narrow
from rnnlab.kernels.compiled import narrow
x = draw.normal(size=(3, 70)).astype("float32")
out = np.empty((3, 132), "float32")
@narrow.njit
def call(x, weights, out):
    narrow.multiply(x, weights, out, 0, 132)
call(x, answer._matrices["weight_ih_l0"], out)
print(narrow.HAS_BYTE_PRODUCTS, hashlib.sha256(out.tobytes()).hexdigest())
"""


def problem(cell, T, B, I=5, H=9, L=2):
    """A network of lively units, x [T,B,I] and a state."""
    network = Network.create(cell, I, H, L, gain=1.5, seed=T + B)
    draw = np.random.default_rng(B).normal
    state = tuple(0.5 * draw(size=part.shape).astype("float32") for part in network.zero_state(B))
    return network, draw(size=(T, B, I)).astype("float32"), state


def widened(network, convert):
    """The float64 network whose weights are the numbers that the narrow ones stand for."""
    parameters = {
        name: widen(convert(array), array.shape[1]) if array.ndim == 2 else array
        for name, array in network.parameters.items()
    }
    return network.with_parameters(parameters).astype("float64")


def rounded_rows(array):
    """Rows of float32 as a scale times -127 … 127, in float64: what a step makes of its inputs."""
    largest = np.abs(array).max(-1, keepdims=True)
    factor = np.divide(np.float32(127), largest, where=largest > 0, out=np.zeros_like(largest))
    return np.rint(array * factor).astype("float64") * (largest / np.float32(127))


@pytest.mark.parametrize("cell", CELLS)
def test_bfloat16_weights_give_the_references_numbers_for_the_rounded_weights(cell):
    for T, B in ((1, 1), (5, 3), (2, 11)):
        network, x, state = problem(cell, T, B)
        answer = Inference(network, weights="bfloat16")
        want_y, want, _ = reference.forward(
            widened(network, halve), x.astype(float), tuple(map(np.float64, state))
        )
        y, final = answer.run(x, state)
        for got, expected in [(y, want_y), *zip(final, want, strict=True)]:
            assert got.dtype == np.float32
            assert relative_error(got, expected) <= TOLERANCES["float32"].forward(T)
        for x_t in x:
            y_t, state = answer.step(x_t, state)
        np.testing.assert_array_equal(y_t, y[-1])


@pytest.mark.parametrize("cell", CELLS)
def test_int8_weights_give_the_references_step_for_the_rounded_weights_and_inputs(cell):
    for B, I, H in ((1, 3, 64), (9, 65, 7)):
        network, x, state = problem(cell, 1, B, I, H, L=1)
        exact = widened(network, quantize)
        h = rounded_rows(state[0])
        got, now = Inference(network, weights="int8").step(x[0], state)
        if cell == "gru":  # its update gate also weighs h itself, which is not rounded
            want = [gru_step(exact.layer(0), rounded_rows(x[0]), h[0], state[0][0].astype(float))]
        else:
            want = reference.forward(exact, rounded_rows(x), (h, *map(np.float64, state[1:])))[1]
        assert relative_error(got, want[0].reshape(B, H)) <= 4e-6
        assert relative_error(now[-1][0], want[-1].reshape(B, H)) <= 4e-6


def gru_step(layer, x, rounded, h):
    """h [B,H] after a step whose products take the rounded state."""
    gates_x = np.split(x @ layer.weight_ih.T + layer.bias_ih, 3, -1)
    gates_h = np.split(rounded @ layer.weight_hh.T + layer.bias_hh, 3, -1)
    r, z = (1 / (1 + np.exp(-gates_x[k] - gates_h[k])) for k in (0, 1))
    n = np.tanh(gates_x[2] + r * gates_h[2])
    return (1 - z) * n + z * h


def test_bfloat16_rounds_to_nearest_and_ties_to_even():
    step = np.float32(2.0**-7)  # between neighbours from 1 to 2
    weights = np.array([[1 + step / 2, 1 + 1.5 * step, 1 + 0.6 * step, -3.4e38, 1e-40]], np.float32)
    expected = np.array([[1, 1 + 2 * step, 1 + step, -np.inf, 1e-40]])
    got = widen(halve(weights), 5)
    np.testing.assert_array_equal(got[:, :3], expected[:, :3])
    assert got[0, 3] <= -3.38e38
    np.testing.assert_allclose(got[0, 4], 1e-40, rtol=2.0**-1)


def test_int8_keeps_each_row_within_half_a_step_of_its_largest():
    weights = np.random.default_rng(1).normal(size=(6, 11)).astype("float32")
    weights[2] = 0
    weights[3, 4] = 1000  # an outlier: every other weight of this row becomes 0
    narrow = quantize(weights)
    step = np.abs(weights).max(1, keepdims=True) / 127
    got = widen(narrow, 11)
    assert (np.abs(got - weights) <= step * (0.5 + 1e-5)).all()
    assert not got[2].any()
    assert np.count_nonzero(got[3]) == 1
    assert narrow.values.min() >= -127
    np.testing.assert_array_equal(narrow.total, narrow.values.sum(1, dtype=int))


@pytest.mark.parametrize("weights", ["bfloat16", "int8"])
def test_no_weight_is_stale(weights):
    network, x, state = problem("lstm", 1, 1)
    answer = Inference(network, weights=weights)
    first, _ = answer.step(x[0], state)
    with pytest.raises(ValueError, match="read-only"):
        network.parameters["weight_hh_l1"] += 1
    network.parameters["bias_hh_l1"] += 0.5  # biases are read anew in each step
    second, _ = answer.step(x[0], state)
    assert np.abs(second - first).max() > 0.01
    answer.release()
    network.parameters["weight_hh_l1"] *= 2
    network.parameters["weight_ih_l0"] = -network.parameters["weight_ih_l0"]
    fresh, _ = Inference(network, weights=weights).step(x[0], state)
    np.testing.assert_array_equal(answer.step(x[0], state)[0], fresh)
    with pytest.raises(ValueError, match="read-only"):
        network.parameters["weight_ih_l0"][0, 0] = 1


def test_memory_shown_by_a_view_is_frozen_too():
    network, x, state = problem("rnn_tanh", 1, 1)
    flat = np.zeros(9 * 9, np.float32)
    network.parameters["weight_hh_l0"] = flat.reshape(9, 9)
    answer = Inference(network, weights="int8")
    with pytest.raises(ValueError, match="read-only"):
        flat[0] = 1
    answer.release()
    flat[:] = 0.5
    fresh, _ = Inference(network, weights="int8").step(x[0], state)
    np.testing.assert_array_equal(answer.step(x[0], state)[0], fresh)


def test_narrow_weights_take_a_half_and_a_quarter_of_the_bytes():
    network = Network.create("lstm", 128, 256, 2)
    whole = Inference(network).nbytes
    assert whole == sum(array.nbytes for array in network.parameters.values())
    assert Inference(network, weights="bfloat16").nbytes < 0.51 * whole
    assert Inference(network, weights="int8").nbytes < 0.27 * whole


def test_shares_of_threads_give_the_same_step(monkeypatch):
    from rnnlab.ladder import narrow_weights

    network, x, state = problem("gru", 1, 2, 30, 40)
    answer = Inference(network, weights="int8")
    whole = answer.step(x[0], state)
    monkeypatch.setattr(narrow_weights, "SHARE", 1000)
    monkeypatch.setattr(narrow_weights, "count", lambda: 3)
    parts = answer.step(x[0], state)
    for got, expected in [(parts[0], whole[0]), *zip(parts[1], whole[1], strict=True)]:
        np.testing.assert_array_equal(got, expected)


def test_what_narrow_weights_cannot_do_is_refused():
    network, x, state = problem("lstm", 1, 1)
    for weights, other, words in [
        ("int4", network, "int4.*bfloat16"),
        ("int8", network.astype("float64"), "float64"),
        ("int8", Network.create("gru", 3, 4, reset="before"), "gru_before"),
    ]:
        with pytest.raises(ValueError, match=words):
            Inference(other, weights=weights)
    answer = Inference(network, weights="bfloat16")
    answer.release()
    network.parameters["weight_hh_l1"][3, 4] = np.nan
    with pytest.raises(ValueError, match="weight_hh_l1"):
        answer.step(x[0], state)
    network.parameters["weight_hh_l1"][3, 4] = 0
    x[0, 0, 2] = np.inf
    with pytest.raises(ValueError, match="inf"):
        answer.step(x[0], state)


@pytest.mark.slow
def test_a_processor_without_the_instruction_gives_the_same_bits():
    results = []
    for name in ("", "generic"):
        environment = os.environ | {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""} if name else os.environ
        done = subprocess.run(
            [sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True
        )
        results.append(done.stdout.split())
    assert results[1][0] == "False"
    assert results[0][1] == results[1][1]
