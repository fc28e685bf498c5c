"""Weights of 16 and 8 bits: their formats, the steps that are computed with them, and that none is stale."""

import copy
import gc
import os
import subprocess
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rnnlab import Inference, Network, reference
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.kernels.compiled import narrow, threads
from rnnlab.kernels.packed import team
from rnnlab.ladder import narrow_weights
from rnnlab.narrow import Int8Weights, from_bfloat16, quantize, to_bfloat16

CELLS = ["rnn_tanh", "rnn_relu", "gru", "lstm"]
DIGEST = """
import hashlib, numpy as np
from rnnlab import Inference, Network
network = Network.create("rnn_relu", 70, 33, seed=5)
for name in ("bias_ih_l0", "bias_hh_l0"):  # a sum of three numbers depends on its order
    network.parameters[name][:] = 0
x = np.random.default_rng(6).normal(size=(3, 70)).astype("float32")
y, _ = Inference(network, weights="int8").step(x, network.zero_state(3))
from rnnlab.kernels.packed.host import BYTE_PRODUCTS
print(BYTE_PRODUCTS, hashlib.sha256(y.tobytes()).hexdigest())
"""


def problem(cell, T, B, I=5, H=9, L=2):
    """A network of lively units, x [T,B,I] and a state."""
    network = Network.create(cell, I, H, L, gain=1.5, seed=T + B)
    draw = np.random.default_rng(B).normal
    state = tuple(0.5 * draw(size=part.shape).astype("float32") for part in network.zero_state(B))
    return network, draw(size=(T, B, I)).astype("float32"), state


def widen(weights):
    """The float32 numbers [N,K] that narrow weights stand for."""
    if isinstance(weights, Int8Weights):
        return weights.values * weights.scale[:, None]
    return from_bfloat16(weights)


def widened(network, convert):
    """The float64 network whose weights are the numbers that the narrow ones stand for."""
    parameters = {
        name: widen(convert(array)) if array.ndim == 2 else array
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
            widened(network, to_bfloat16), x.astype(float), tuple(map(np.float64, state))
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
    got = widen(to_bfloat16(weights))
    np.testing.assert_array_equal(got[:, :3], expected[:, :3])
    assert got[0, 3] <= -3.38e38
    np.testing.assert_allclose(got[0, 4], 1e-40, rtol=2.0**-1)


def test_int8_keeps_each_row_within_half_a_step_of_its_largest():
    weights = np.random.default_rng(1).normal(size=(6, 11)).astype("float32")
    weights[2] = 0
    weights[3, 4] = 1000  # an outlier: every other weight of this row becomes 0
    narrow = quantize(weights)
    step = np.abs(weights).max(1, keepdims=True) / 127
    got = widen(narrow)
    assert (np.abs(got - weights) <= step * (0.5 + 1e-5)).all()
    assert not got[2].any()
    assert np.count_nonzero(got[3]) == 1
    assert narrow.values.min() >= -127


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


def test_matrices_in_one_piece_of_memory_are_released_together():
    network, x, state = problem("gru", 1, 1)
    flat = np.concatenate([array.reshape(-1) for array in network.parameters.values()])
    parts = np.split(flat, np.cumsum([array.size for array in network.parameters.values()])[:-1])
    shapes = network.shapes.items()
    other = network.with_parameters(
        {name: part.reshape(shape) for (name, shape), part in zip(shapes, parts, strict=True)}
    )
    answer = Inference(other, weights="int8")
    np.testing.assert_array_equal(
        answer.step(x[0], state)[0], Inference(network, weights="int8").step(x[0], state)[0]
    )
    answer.release()
    flat *= 2
    assert all(array.flags.writeable for array in other.parameters.values())


@pytest.mark.parametrize("by_hand", [False, True])
def test_no_weight_is_stale_where_another_one_of_the_network_was_made_first(by_hand):
    network, x, state = problem("gru", 1, 1)
    answers = [Inference(network, weights=weights) for weights in ("bfloat16", "int8", "bfloat16")]
    array = network.parameters["weight_hh_l1"]
    for answer in answers:
        if by_hand:
            array.flags.writeable = True
        else:
            answer.release()
        array *= 1.5  # whoever made it read-only
        answers[0].step(x[0], state)  # and now it is so again
        for other, weights in zip(answers, ("bfloat16", "int8", "bfloat16"), strict=True):
            fresh = Inference(network, weights=weights).step(x[0], state)[0]
            np.testing.assert_array_equal(other.step(x[0], state)[0], fresh)


def test_weights_are_writable_again_once_nothing_is_made_from_them():
    network, x, state = problem("lstm", 1, 1)
    array = network.parameters["weight_ih_l1"]
    one, other = (Inference(network, weights=weights) for weights in ("bfloat16", "int8"))
    one.step(x[0], state)
    del one
    gc.collect()
    with pytest.raises(ValueError, match="read-only"):
        array += 1
    del other
    gc.collect()
    array += 1
    network.parameters["weight_hh_l0"][0, 0] = np.inf
    with pytest.raises(ValueError, match="weight_hh_l0"):
        Inference(network, weights="int8")
    array += 1


def test_memory_that_another_thread_seals_while_it_is_opened_is_writable_in_the_end():
    network, _, _ = problem("rnn_tanh", 1, 1)
    array = network.parameters["weight_hh_l0"] = network.parameters["weight_hh_l0"].copy()[:]
    first = narrow_weights.NarrowWeights(network, "int8")
    seal = narrow_weights.SEALS[id(array.base)]
    others = []
    started = []

    class Between:  # the array and its view: another thread makes weights of them
        @property
        def flags(self):
            thread = threading.Thread(
                target=lambda: others.append(narrow_weights.NarrowWeights(network, "bfloat16"))
            )
            thread.start()
            thread.join(0.5)
            started.append(thread)
            return types.SimpleNamespace()

    seal.arrays.insert(1, Between())
    del first, seal  # now it opens
    started.pop().join()
    others.clear()
    gc.collect()
    assert all(part.flags.writeable for part in (array, array.base))


def test_memory_that_numpy_cannot_keep_from_being_written_is_read_in_each_step():
    class Tensor:  # of another library
        def __init__(self, array):
            self.array, self.__array_interface__ = array, array.__array_interface__

    network, x, state = problem("rnn_relu", 1, 1)
    own = network.parameters["weight_hh_l1"].copy()
    network.parameters["weight_hh_l1"] = np.asarray(Tensor(own))
    answer = Inference(network, weights="bfloat16")
    for _ in range(2):
        own *= 1.5
        fresh = Inference(network, weights="bfloat16").step(x[0], state)[0]
        np.testing.assert_array_equal(answer.step(x[0], state)[0], fresh)


@pytest.mark.parametrize("weights", ["bfloat16", "int8"])
def test_a_step_keeps_what_it_reads_while_another_thread_reads_anew(monkeypatch, weights):
    network, x, state = problem("lstm", 1, 1, 30, 40)
    answer = Inference(network, weights=weights)
    first = answer.step(x[0], state)[0]
    compute = answer._narrow._step

    def meanwhile(*arguments):
        monkeypatch.setattr(answer._narrow, "_step", compute)
        network.parameters.update({name: array + 1 for name, array in network.parameters.items()})
        assert np.abs(answer.step(x[0], state)[0] - first).max() > 0.1
        return compute(*arguments)

    monkeypatch.setattr(answer._narrow, "_step", meanwhile)
    np.testing.assert_array_equal(answer.step(x[0], state)[0], first)


def test_a_copy_of_narrow_weights_has_addresses_of_its_own():
    network, x, state = problem("lstm", 1, 1, 30, 40)
    narrow_ones = narrow_weights.NarrowWeights(network, "int8")
    first = narrow_ones.step(x[0], state)[0]
    other = copy.deepcopy(narrow_ones)
    network.parameters.update({name: array + 1 for name, array in network.parameters.items()})
    narrow_ones.step(x[0], state)
    del narrow_ones
    gc.collect()
    np.testing.assert_array_equal(other.step(x[0], state)[0], first)


def test_narrow_weights_take_a_half_and_a_quarter_of_the_bytes():
    network = Network.create("lstm", 128, 256, 2)
    whole = Inference(network).nbytes
    assert whole == sum(array.nbytes for array in network.parameters.values())
    assert Inference(network, weights="bfloat16").nbytes < 0.51 * whole
    assert Inference(network, weights="int8").nbytes < 0.27 * whole


@pytest.mark.parametrize("weights", ["bfloat16", "int8"])
def test_threads_that_share_blocks_give_the_same_steps(monkeypatch, weights):
    network, x, state = problem("gru", 40, 2, 30, 40)
    whole = Inference(network, weights=weights).run(x, state)
    monkeypatch.setattr(narrow_weights, "SHARE", 1)
    monkeypatch.setattr(team, "count", lambda: 3)
    place = narrow_weights.Workplace(3)
    monkeypatch.setattr(narrow_weights, "workplace", lambda: place)
    parts = Inference(network, weights=weights).run(x, state)
    for got, expected in [(parts[0], whole[0]), *zip(parts[1], whole[1], strict=True)]:
        np.testing.assert_array_equal(got, expected)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no system call binds a thread here")
def test_a_thread_that_is_started_runs_on_other_cores_and_has_its_own_back(monkeypatch):
    calls = []  # of the test's own thread: helpers of an earlier test may end only now
    own = os.sched_getaffinity(0)

    def bind(process, cores):
        if threading.current_thread().name.startswith("tested"):
            calls.append(cores)

    with ThreadPoolExecutor(1, "tested") as pool:
        monkeypatch.setattr(threads, "_pool", lambda process: pool)
        monkeypatch.setattr(os, "sched_setaffinity", bind)
        threads.start(calls.append, "task")
    first, task, last = calls
    assert task == "task"
    assert first <= last == own
    assert len(first) == max(1, len(own) - 1)


def test_steps_in_two_threads_at_once_give_the_same_as_one_after_the_other():
    problems = [problem("lstm", 200, 1, 40, H, 1) for H in (64, 48)]
    steps = [Inference(network, weights="int8") for network, *_ in problems]
    expected = [answer.run(*inputs)[0] for answer, (_, *inputs) in zip(steps, problems, strict=True)]
    with ThreadPoolExecutor(2) as pool:
        results = [
            pool.submit(answer.run, *inputs) for answer, (_, *inputs) in zip(steps, problems, strict=True)
        ]
    for result, y in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result.result()[0], y)


def test_a_job_says_how_many_share_it_whatever_other_threads_of_the_same_network_say(monkeypatch):
    network, x, state = problem("lstm", 1, 1)
    answer = Inference(network, weights="int8")
    first = answer.step(x[0], state)[0]
    place = narrow_weights.workplace()
    answer._narrow._plan.numbers[narrow.MEMBERS] = 7  # as another thread, with more room, may leave it
    np.testing.assert_array_equal(answer.step(x[0], state)[0], first)
    with place.lock:
        seen = []
        alone = narrow_weights.Workplace(1)
        monkeypatch.setattr(narrow_weights, "Workplace", lambda members: seen.append(members) or alone)
        np.testing.assert_array_equal(answer.step(x[0], state)[0], first)
    assert seen == [1]
    assert alone.job[narrow.MEMBERS] == 1


def test_y_of_a_step_keeps_no_states():
    network, x, state = problem("lstm", 1, 1)
    y, (h, _) = Inference(network, weights="int8").step(x[0], state)
    np.testing.assert_array_equal(y, h[-1])
    assert y.base is None


def test_another_matrix_of_another_shape_is_refused():
    network, x, state = problem("gru", 1, 1)
    answer = Inference(network, weights="int8")
    network.parameters["weight_ih_l1"] = np.zeros((27, 8), "float32")
    with pytest.raises(ValueError, match=r"weight_ih_l1.*\(27, 8\).*\(27, 9\)"):
        answer.step(x[0], state)


def test_biases_of_any_layout_are_read_in_each_step():
    network, x, state = problem("lstm", 1, 1)
    network.parameters["bias_ih_l0"] = np.zeros((36, 2), "float32")[:, 0]
    answer = Inference(network, weights="bfloat16")
    for value in (0.25, -0.5):
        network.parameters["bias_ih_l0"][:] = value
        fresh, _ = Inference(network, weights="bfloat16").step(x[0], state)
        np.testing.assert_array_equal(answer.step(x[0], state)[0], fresh)


def test_what_narrow_weights_cannot_do_is_refused():
    network, x, state = problem("lstm", 1, 1)
    for weights, other, message in [
        ("int4", network, "int4.*bfloat16"),
        ("int8", network.astype("float64"), "float64"),
        ("int8", Network.create("gru", 3, 4, reset="before"), "gru_before"),
    ]:
        with pytest.raises(ValueError, match=message):
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
    assert results[1][0] == "0"
    assert results[0][1] == results[1][1]
