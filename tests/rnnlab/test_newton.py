"""Newton's method finds the states of the loop over time; one scan in reverse is back-propagation."""

from functools import partial

import numpy as np
import pytest

from rnnlab import newton, reference, scan
from rnnlab.cells import CELLS
from rnnlab.compare import relative_error
from rnnlab.network import Network

POINTWISE = [cell.mode for cell in CELLS.values() if cell.pointwise]
SIZES = T, B, I, H = 37, 3, 4, 5
CHAOTIC = 12.0  # gain of a tanh RNN of 32 units in which small differences grow


def problem(mode, T=T, H=H, gain=1.0):
    """A float64 network, x, a state that is not zero, and the loop's outputs."""
    network = Network.create(mode, I, H, dtype="float64", gain=gain, seed=2)
    rng = np.random.default_rng(5)
    x = rng.normal(size=(T, B, I))
    state = tuple(0.5 * rng.normal(size=(1, B, H)) for _ in network.properties.states)
    return network, x, state, reference.forward(network, x, state)


def first(state):
    """The state before step 0 [B,S]."""
    return np.concatenate([part[0] for part in state], -1)


@pytest.mark.parametrize("mode", POINTWISE)
def test_a_jacobian_is_the_slope_of_the_step(mode):
    network, x, state, _ = problem(mode, T=2)
    steps = newton.steps_of(network, x)
    before = np.random.default_rng(1).normal(size=(2, B, first(state).shape[-1]))
    jacobian, eps = newton.jacobians(steps, steps.run(before)[1]), 1e-6
    for j in range(before.shape[-1]):
        change = np.zeros(before.shape[-1])
        change[j] = eps
        slope = (steps.run(before + change)[0] - steps.run(before - change)[0]) / (2 * eps)
        assert relative_error(jacobian[..., j], slope) < 1e-7 or np.abs(slope).max() < 1e-9
    diagonal = newton.jacobians(steps, steps.run(before)[1], diagonal=True)
    assert np.allclose(diagonal, np.einsum("tbii->tbi", jacobian), rtol=1e-12)


@pytest.mark.parametrize("by", [scan.blelloch, scan.hillis_steele, partial(scan.chunked, chunk=4)])
@pytest.mark.parametrize("mode", POINTWISE)
def test_newton_finds_the_states_of_the_loop(mode, by):
    network, x, state, (y, _, _) = problem(mode)
    solution = newton.solve(newton.steps_of(network, x), first(state), tolerance=1e-12, by=by)
    assert relative_error(solution.states[..., :H], y) < 1e-13
    assert solution.iterations <= 8  # 37 steps


def test_diagonals_take_more_iterations_to_the_same_states():
    network, x, state, (y, _, _) = problem("gru")
    steps = newton.steps_of(network, x)
    full, diagonal = (newton.solve(steps, first(state), 1e-12, diagonal=d) for d in (False, True))
    assert relative_error(diagonal.states, y) < 1e-10
    assert full.iterations < diagonal.iterations


def test_after_k_iterations_the_first_k_states_are_exact_even_in_chaos():
    network, x, state, (y, _, _) = problem("rnn_tanh", H=32, gain=CHAOTIC)
    steps = newton.steps_of(network, x)
    for k, states in zip(range(1, T + 1), newton.iterate(steps, first(state)), strict=False):
        assert relative_error(states[:k], y[:k]) < 1e-6


def test_growth_is_negative_where_newton_is_quick_and_positive_where_it_is_not():
    rates, iterations = [], []
    for gain in (0.5, CHAOTIC):
        network, x, state, (_, _, saved) = problem("rnn_tanh", H=32, gain=gain)
        steps = newton.steps_of(network, x)
        before = np.stack([step.state[0] for step in saved.steps[0]])
        rates.append(newton.growth_rate(newton.jacobians(steps, steps.run(before)[1])))
        iterations.append(newton.solve(steps, first(state), 1e-10).iterations)
    assert rates[0] < 0 < rates[1]
    assert iterations[0] <= 6
    assert iterations[1] >= T // 2


def test_the_growth_rate_of_a_known_matrix_is_the_logarithm_of_its_largest_eigenvalue():
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    matrix = rotation @ np.diag([0.1, 0.3, 0.7, 1.5]) @ rotation.T
    assert newton.growth_rate(np.broadcast_to(matrix, (400, 1, 4, 4))) == pytest.approx(np.log(1.5), abs=0.02)


@pytest.mark.parametrize("length", [1, T])
@pytest.mark.parametrize("mode", POINTWISE)
def test_one_scan_in_reverse_is_back_propagation(mode, length):
    network, x, state, (y, _, saved) = problem(mode, T=length)
    dy = np.random.default_rng(3).normal(size=y.shape)
    dx, dstate, gradients = newton.backward(network, x, state, dy)
    want_dx, want_dstate, want = reference.backward(network, saved, dy)
    pairs = [(dx, want_dx), *zip(dstate, want_dstate, strict=True)]
    pairs += [(gradients[name], want[name]) for name in want if want[name].size]
    assert max(relative_error(a, b) for a, b in pairs) < 1e-13


def test_two_layers_and_a_reset_before_are_refused():
    for network in (Network.create("gru", I, H, 2), Network.create("gru", I, H, reset="before")):
        with pytest.raises(ValueError, match=network.properties.name):
            newton.steps_of(network, np.zeros((2, 1, I), "float32"))


@pytest.mark.parametrize("by", [scan.blelloch, partial(scan.chunked, chunk=32)])
@pytest.mark.parametrize("arriving", ["at few steps", "everywhere, tiny"])
def test_gradients_are_finite_where_those_of_the_loop_are_although_differences_grow(arriving, by):
    """A tanh RNN of 24 units, weights five times the usual size, 480 steps in float32."""
    network = Network.create("rnn_tanh", 3, 24, gain=5.0, seed=11)
    rng = np.random.default_rng(4)
    x = 0.4 * rng.normal(size=(480, 2, 3)).astype("float32")
    dy = np.zeros((480, 2, 24), "float32")
    if arriving == "at few steps":
        dy[3:7, 1] = 1
    else:
        dy[:] = 1e-33 * rng.normal(size=dy.shape)
    _, _, saved = reference.forward(network, x)
    want = reference.backward(network, saved, dy)[0]
    assert np.isfinite(want).all()
    dx, dfirst, of_parameters = newton.backward(network, x, None, dy, by)
    assert relative_error(dx, want) < 1e-4  # roundings of 480 products of growing numbers
    assert all(np.isfinite(array).all() for array in (*dfirst, *of_parameters.values()))


def test_a_network_whose_units_are_all_zero_forgets_at_once():
    network = Network.create("rnn_relu", 2, 5, dtype="float64")
    dead = {name: np.zeros_like(array) for name, array in network.parameters.items()}
    dead["bias_ih_l0"] = dead["bias_ih_l0"] - 2
    steps = newton.steps_of(network.with_parameters(dead), np.ones((6, 2, 2)))
    jacobian = newton.jacobians(steps, steps.run(np.zeros((6, 2, 5)))[1])
    assert newton.growth_rate(jacobian) == -np.inf


@pytest.mark.parametrize("mode", ["gru", "lstm"])
def test_products_over_all_steps_are_one_call_of_the_blas(mode, monkeypatch):
    """No product of newton has three axes: NumPy would compute it step by step."""
    axes = []

    class Watched(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            if ufunc is np.matmul:
                axes.append(max(map(np.ndim, inputs)))
            plain = [np.asarray(value) if isinstance(value, Watched) else value for value in inputs]
            return getattr(ufunc, method)(*plain, **options)

    network, x, state, _ = problem(mode)
    watched = {name: array.view(Watched) for name, array in network.parameters.items()}
    steps = newton.steps_of(network.with_parameters(watched), x)
    steps.run(np.zeros((T, B, first(state).shape[-1])))
    assert axes == [2, 2]
