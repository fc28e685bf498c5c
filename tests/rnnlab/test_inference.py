"""One step, and a stream of any length, give the reference's numbers, and no parameter is ever stale."""

import copy
import gc
import pickle
import tracemalloc

import numpy as np
import pytest
from values_in import holds

from pocketgpu.devices import DEVICES
from rnnlab import Inference, fastest, reference
from rnnlab.cells import modes
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.kernels.compiled import propagation
from rnnlab.ladder import find, inference, numba_fused, numba_parallel
from rnnlab.ladder.chooser import Abilities
from rnnlab.ladder.inference import CHUNK
from rnnlab.network import Network
from rnnlab.training.model import Model

CELLS = [(cell, "after") for cell in modes()] + [("gru", "before")]


def problem(cell, reset, T, B, dtype="float32", L=2):
    """A network of lively units, x [T,B,I] and a state."""
    network = Network.create(cell, 4, 7, L, reset=reset, dtype=dtype, gain=2.0, seed=T + B)
    draw = np.random.default_rng(B).normal
    state = tuple(0.5 * draw(size=part.shape).astype(dtype) for part in network.zero_state(B))
    return network, 2 * draw(size=(T, B, 4)).astype(dtype), state


def exact(network, x, state):
    """y and the final state in float64."""
    network, in_float64 = network.astype("float64"), lambda array: array.astype("float64")
    y, final, _ = reference.forward(network, in_float64(x), tuple(map(in_float64, state)))
    return y, final


def assert_right(results, network, x, state):
    """y and the final state are the reference's."""
    (y, final), (want_y, want_final) = results, exact(network, x, state)
    for got, want in [(y, want_y), *zip(final, want_final, strict=True)]:
        assert got.dtype == x.dtype
        assert relative_error(got, want) <= TOLERANCES[network.dtype].forward(len(x))


def test_without_numba_it_says_how_to_compile_steps_and_computes_the_same(monkeypatch):
    network, x, state = problem("lstm", "after", 3, 2, "float32")
    monkeypatch.setattr(inference, "find_spec", lambda name: None)
    with pytest.warns(UserWarning, match="pip install numba scipy"):
        answer = Inference(network)
    assert_right(answer.run(x, state), network, x, state)
    monkeypatch.setattr(inference, "in_browser", lambda: True)  # where it cannot be installed
    assert Inference(network).rung is answer.rung


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("cell", "reset"), CELLS)
def test_steps_and_a_run_agree_with_the_reference_in_float64(cell, reset, dtype):
    for T, B in ((1, 1), (CHUNK + 3, 1), (5, 3), (2, 11)):
        network, x, state = problem(cell, reset, T, B, dtype)
        before = [array.copy() for array in (x, *state)]
        answer = Inference(network)
        assert_right(answer.run(x, state), network, x, state)
        y, now = [], state
        for x_t in x:
            y_t, now = answer.step(x_t, now)
            y.append(y_t)
        assert_right((np.stack(y), now), network, x, state)
        assert all(np.array_equal(a, b) for a, b in zip(before, (x, *state), strict=True))


@pytest.mark.parametrize("cell", ["rnn_tanh", "gru", "lstm"])
def test_a_product_for_all_threads_of_the_blas_gives_the_same_step(cell, monkeypatch):
    monkeypatch.setattr(propagation, "LARGE_PRODUCT", 0)
    network, x, state = problem(cell, "after", 1, 1)
    y, final = Inference(network).step(x[0], state)
    assert_right((y[None], final), network, x, state)


@pytest.mark.parametrize(("cell", "reset"), CELLS)
def test_a_parameter_that_changes_counts_from_the_next_step_on(cell, reset):
    network, x, state = problem(cell, reset, 1, 1)
    answer = Inference(network)
    answer.step(x[0], state)
    for name, array in network.parameters.items():
        array += 0.25  # in place: no check of identity would see it
        y, final = answer.step(x[0], state)
        assert_right((y[None], final), network, x, state)
        network.parameters[name] = array * np.float32(1.5)  # another array under the same name
        assert_right(answer.run(x, state), network, x, state)


def test_y_and_states_share_no_memory():
    network, x, state = problem("lstm", "after", 1, 2)
    answer = Inference(network)
    for y, final in (answer.step(x[0], state), answer.run(x, state)):
        stored = [part.copy() for part in final]
        y[:] = 9
        assert all(np.array_equal(a, b) for a, b in zip(stored, final, strict=True))


# loops that read memory nobody may write are compiled once more
@pytest.mark.parametrize(
    "layout", ["scattered", pytest.param("read-only", marks=pytest.mark.slow), "columns first"]
)
def test_any_memory_layout_is_read(layout):
    network, x, state = problem("gru", "after", 3, 2)
    lay = {
        "scattered": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
        "columns first": np.asfortranarray,
        "read-only": lambda array: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
    }[layout]
    other = network.with_parameters({name: lay(array) for name, array in network.parameters.items()})
    assert_right(Inference(other).run(lay(x), tuple(map(lay, state))), network, x, state)
    y, final = Inference(other).step(lay(x)[0], tuple(map(lay, state)))
    assert_right((y[None], final), network, x[:1], state)


def test_what_does_not_fit_or_is_not_finite_is_refused():
    network, x, state = problem("lstm", "after", 1, 1)
    answer, wrong = Inference(network), np.float32("nan")
    for part in (x, *state):
        before, part[0, 0, 1] = part[0, 0, 1], wrong
        with pytest.raises(ValueError, match="nan"):
            answer.step(x[0], state)
        part[0, 0, 1] = before
    for bad_x, bad_state in [
        (x[0, :, :3], state),
        (x[0].astype("float64"), state),
        (x[0], state[:1]),
        (x[0], (state[0][:1], state[1])),
        (np.repeat(x[0], 2, 0), state),
        (x[0, :0], tuple(part[:, :0] for part in state)),
    ]:
        with pytest.raises(ValueError, match=r"expected|dtype|tuple|one sequence"):
            answer.step(bad_x, bad_state)


@pytest.mark.parametrize("weights", ["", "int8"])
def test_a_step_names_the_shape_that_was_passed_and_the_one_it_takes(weights):
    network, x, state = problem("lstm", "after", 3, 2)
    answer = Inference(network, weights=weights)
    for wrong in (x, x[0, 0], x[0, :, :3]):
        with pytest.raises(ValueError, match="shape") as refused:
            answer.step(wrong, state)
        assert holds(str(refused.value), str(wrong.shape), "(B, 4)")
    with pytest.raises(ValueError, match="list of 2"):
        answer.step(x[0].tolist(), state)
    for number in (np.float32(1), x[0, 0, 0, None].squeeze(), None):
        with pytest.raises(ValueError, match=r"\(\)"):
            answer.step(number, state)
    for wrong in (7, tuple(part.tolist() for part in state)):
        with pytest.raises(ValueError, match=r"an int|a list"):
            answer.step(x[0], wrong)


def test_what_is_no_network_is_named_by_each_way_to_run_one():
    model = Model.create("gru", 4, 7, 2)
    x = np.ones((3, 1, 4), "float32")
    for run in (Inference, lambda model: fastest(model, x), lambda model: reference.forward(model, x)):
        with pytest.raises(ValueError, match=r"Model.*\bmodel\.network"):
            run(model)


def test_memory_beside_y_does_not_grow_with_the_steps():
    network, x, state = problem("gru", "after", 40 * CHUNK, 1)
    answer = Inference(network)
    answer.run(x[:CHUNK], state)
    highest = {}
    for T in (2 * CHUNK, 40 * CHUNK):
        tracemalloc.start()
        y, _ = answer.run(x[:T], state)
        highest[T] = tracemalloc.get_traced_memory()[1] - y.nbytes - x[:T].size  # isfinite takes a byte each
        tracemalloc.stop()
    assert highest[40 * CHUNK] < 1.5 * highest[2 * CHUNK]


def test_one_step_of_a_rung_copies_no_weights():
    network = Network.create("lstm", 256, 256)
    x = np.ones((1, 1, 256), "float32")
    numba_fused.forward(network, x)
    tracemalloc.start()
    numba_fused.forward(network, x)
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert highest < network.parameters["weight_hh_l0"].nbytes / 10


def test_packed_weights_takes_one_thread_for_one_sequence(monkeypatch):
    monkeypatch.setattr(numba_parallel, "forward", None)
    monkeypatch.setattr(numba_parallel, "backward", None)
    network, x, state = problem("rnn_tanh", "after", 5, 1)
    rung = find("packed_weights").module
    y, final, saved = rung.forward(network, x, state)
    rung.backward(network, saved, np.ones_like(y))
    assert_right((y, final), network, x, state)


def test_the_fastest_way_is_the_one_measured_with_the_least_time():
    network, x, _ = problem("min_gru", "after", 4, 1, L=1)
    for gradients in (True, False):
        choice = fastest(network, x, gradients=gradients)
        times = {way.name: way.step for way in choice.ways if way.step is not None}
        assert times[choice.name] == min(times.values()) > 0
        assert {"one_big_gemm", "parallel_in_time"} <= {*times}
        assert ("inference" in times) is not gradients
        reasons = {way.name: way.why_not for way in choice.ways if way.step is None}
        assert reasons["gru_textbook"] == find("gru_textbook").refuses(network, 4, 1)
        assert str(choice).startswith(choice.name)


def test_narrower_numbers_take_part_only_where_the_caller_allows_them(monkeypatch):
    monkeypatch.setattr("rnnlab.kernels.packed.host.HAS_PAIR_PRODUCTS", True)
    network, x, _ = problem("lstm", "after", 4, 3, L=1)
    rung, halves, bytes_ = "packed_bfloat16", "inference, bfloat16 weights", "inference, int8 weights"
    for precision, gradients, narrow in [
        ("", True, ()),
        ("bfloat16", True, (rung,)),
        ("bfloat16", False, (rung, halves)),
        ("int8", False, (rung, halves, bytes_)),
    ]:
        ways = {way.name: way for way in fastest(network, x, gradients=gradients, precision=precision).ways}
        ran = {name for name, way in ways.items() if way.step is not None}
        assert {rung, halves, bytes_} & ran == set(narrow)
        assert {name for name in ran if ways[name].error} == set(narrow)
        assert all(1e-5 < ways[name].error < 0.05 for name in narrow)
        assert (rung in narrow) or holds(ways[rung].why_not, "precision='bfloat16'")
    network.parameters["weight_hh_l0"] += 0  # it stays writable
    with pytest.raises(ValueError, match=r"float16.*bfloat16.*int8"):
        fastest(network, x, precision="float16")


def test_the_fastest_way_on_a_gpu_is_predicted():
    network, x, _ = problem("gru", "after", 4, 1, L=1)
    choice = fastest(network, x, gpu=Abilities(DEVICES["H200"]))
    assert choice.name == "persistent"
    assert choice.source == "predicted"


@pytest.mark.parametrize(
    ("name", "shape"),
    [("weight_hh_l0", (21, 6)), ("weight_ih_l1", (7, 21)), ("bias_hh_l1", (1000,)), ("bias_ih_l0", (1,))],
)
@pytest.mark.parametrize("large", [0, np.inf], ids=["BLAS", "compiled"])
def test_a_parameter_of_another_shape_is_refused_in_every_step(name, shape, large, monkeypatch):
    monkeypatch.setattr(propagation, "LARGE_PRODUCT", large)
    network, x, state = problem("gru", "after", 1, 2)
    answer = Inference(network)
    answer.step(x[0], state)
    network.parameters[name] = np.ones(shape, "float32")
    for call in (lambda: answer.step(x[0], state), lambda: answer.run(x, state)):
        with pytest.raises(ValueError, match=f"{name} has shape"):
            call()


@pytest.mark.parametrize("weights", ["", "int8"])
@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, lambda answer: pickle.loads(pickle.dumps(answer))]
)
def test_a_copy_answers_alike_and_stands_on_its_own(make, weights):
    network, x, state = problem("lstm", "after", 3, 1)
    answer = Inference(network, weights=weights)
    want = answer.run(x, state)[0]
    other = make(answer)
    del answer, network
    gc.collect()
    np.testing.assert_array_equal(other.run(x, state)[0], want)
    other.network.parameters["bias_ih_l0"] = other.network.parameters["bias_ih_l0"] + np.float32(1)
    assert np.abs(other.run(x, state)[0] - want).max() > 0.01
