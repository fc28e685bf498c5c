"""The reference is held against PyTorch, against slopes of its own loss, and against itself cut in pieces."""

from pathlib import Path

import numpy as np
import pytest

from rnnlab import reference
from rnnlab.cells import find_cell, modes
from rnnlab.compare import relative_error
from rnnlab.network import Network

PYTORCH = np.load(Path(__file__).parents[1] / "fixtures/pytorch.npz", allow_pickle=False)
CELLS = [(cell, "after") for cell in modes()] + [("gru", "before")]


def problem(cell, reset="after", T=5, B=3, I=4, H=3, L=1):
    """A float64 network and x, state, dy, dstate, nothing zero."""
    network = Network.create(cell, I, H, L, reset=reset, dtype="float64", gain=1.5, seed=3)
    rng = np.random.default_rng(7)
    state, dstate = (tuple(rng.normal(size=(L, B, H)) for _ in find_cell(cell).states) for _ in range(2))
    return network, rng.normal(size=(T, B, I)), state, rng.normal(size=(T, B, H)), dstate


def loss(network, x, state, dy, dstate):
    """The number whose gradient backward computes: Σ y·dy + Σ final·dstate."""
    y, final, _ = reference.forward(network, x, state)
    return (y * dy).sum() + sum((a * b).sum() for a, b in zip(final, dstate, strict=True))


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("cell", sorted({key.rpartition("/")[0][:-2] for key in PYTORCH} - {""}))
def test_forward_and_every_gradient_agree_with_pytorch(cell, layers):
    case = {key.split("/")[1]: PYTORCH[key] for key in PYTORCH if key.startswith(f"{cell}_{layers}/")}
    names = [name for name in case if name.startswith(("weight", "bias"))]
    parameters = {name: case[name] for name in names}
    inputs, hidden = parameters["weight_ih_l0"].shape[1], parameters["weight_hh_l0"].shape[1]
    network = Network(cell, inputs, hidden, parameters, layers, "after", "float64")
    states = find_cell(cell).states
    of_state = lambda prefix, suffix: tuple(case[f"{prefix}{name}{suffix}"] for name in states)
    y, final, saved = reference.forward(network, case["x"], of_state("", "0"))
    dx, dfirst, gradients = reference.backward(network, saved, case["dy"], of_state("d", "T"))
    got = [y, *final, dx, *dfirst, *(gradients[name] for name in names)]
    want = [case["y"], *of_state("", "T"), case["dx"], *of_state("d", "0"), *(case[f"d{n}"] for n in names)]
    assert max(map(relative_error, got, want)) < 1e-13


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(("cell", "reset"), CELLS)
def test_every_gradient_is_the_slope_of_the_loss(cell, reset, layers):
    network, x, state, dy, dstate = problem(cell, reset, L=layers)
    _, _, saved = reference.forward(network, x, state)
    dx, dfirst, gradients = reference.backward(network, saved, dy, dstate)
    slope = reference.numerical_gradient
    assert relative_error(dx, slope(lambda v: loss(network, v, state, dy, dstate), x)) < 1e-7
    for k in range(len(state)):
        with_part = lambda v, k=k: (*state[:k], v, *state[k + 1 :])
        numerical = slope(lambda v: loss(network, x, with_part(v), dy, dstate), state[k])  # noqa: B023
        assert relative_error(dfirst[k], numerical) < 1e-7
    for name, gradient in gradients.items():
        changed = lambda v, name=name: network.with_parameters(network.parameters | {name: v})
        numerical = slope(lambda v: loss(changed(v), x, state, dy, dstate), network.parameters[name])  # noqa: B023
        assert relative_error(gradient, numerical) < 1e-7


def taylor_slopes(loss, slope, steps):
    """Order of the error |loss(ε) − loss(0) − ε·slope| between neighbouring ε [n-1], for steps [n].

    2 where `slope` is the derivative of loss at 0, 1 where it is not: halving ε must quarter the error.
    """
    errors = np.array([abs(loss(eps) - loss(0.0) - eps * slope) for eps in steps])
    return np.log(errors[1:] / errors[:-1]) / np.log(np.array(steps[1:]) / np.array(steps[:-1]))


@pytest.mark.parametrize(("cell", "reset"), [case for case in CELLS if case[0] != "rnn_relu"])
def test_the_error_of_the_tangent_falls_with_the_square_of_the_step(cell, reset):
    network, x, state, dy, dstate = problem(cell, reset, L=2)
    _, _, saved = reference.forward(network, x, state)
    _, _, gradients = reference.backward(network, saved, dy, dstate)
    rng = np.random.default_rng(1)
    way = {name: rng.normal(size=p.shape) for name, p in network.parameters.items()}
    slope = sum((gradients[name] * way[name]).sum() for name in way)
    moved = lambda eps: network.with_parameters({n: p + eps * way[n] for n, p in network.parameters.items()})
    along = lambda eps: loss(moved(eps), x, state, dy, dstate)
    steps = [1e-3 / 2**k for k in range(4)]
    assert np.allclose(taylor_slopes(along, slope, steps), 2, atol=0.1)
    assert np.allclose(taylor_slopes(along, slope + 1, steps), 1, atol=0.2)  # a wrong gradient shows


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize(("cell", "reset"), CELLS)
def test_both_sweeps_give_one_gradient_for_t_and_half_t_squared_cells(cell, reset, layers):
    T = 6
    network, x, state, dy, _ = problem(cell, reset, T=T, L=layers)
    linear = reference.bptt_linear(network, x, state, dy)
    quadratic = reference.bptt_quadratic(network, x, state, dy)
    assert linear.cell_backwards == layers * T
    assert quadratic.cell_backwards == layers * T * (T + 1) // 2
    assert max(all_errors(quadratic, linear)) < 1e-13


def all_errors(got, want):
    pairs = [(got.dx, want.dx), *zip(got.dstate, want.dstate, strict=True)]
    pairs += [(got.gradients[name], want.gradients[name]) for name in want.gradients]
    return [relative_error(a, b) for a, b in pairs]


def test_the_count_is_of_cell_gradients_really_run(monkeypatch):
    network, x, state, dy, _ = problem("lstm", T=5, L=2)
    run, calls = reference.cells.backward, []
    monkeypatch.setattr(reference.cells, "backward", lambda *a: (calls.append(1), run(*a))[1])
    for sweep in (reference.bptt_linear, reference.bptt_quadratic):
        calls.clear()
        assert sweep(network, x, state, dy).cell_backwards == len(calls)


def test_truncation_as_long_as_the_sequence_is_none():
    network, x, state, dy, _ = problem("gru", T=6, L=2)
    exact = reference.bptt_linear(network, x, state, dy)
    assert max(all_errors(reference.bptt_window(network, x, state, dy, window=6), exact)) < 1e-13
    assert max(all_errors(reference.bptt_chunked(network, x, state, dy, chunk=6), exact)) < 1e-13


def test_the_two_truncations_are_different_estimates():
    network, x, state, dy, _ = problem("rnn_tanh", T=6)
    exact, window, chunked = (
        reference.bptt_linear(network, x, state, dy),
        reference.bptt_window(network, x, state, dy, 2),
        reference.bptt_chunked(network, x, state, dy, 2),
    )
    name = "weight_hh_l0"
    errors = [relative_error(a.gradients[name], b.gradients[name])
              for a, b in [(window, exact), (chunked, exact), (chunked, window)]]  # fmt: skip
    assert min(errors) > 1e-2
    assert (window.cell_backwards, chunked.cell_backwards) == (1 + 5 * 2, 6)


def test_a_window_follows_each_loss_term_exactly_that_far():
    """Slopes: at window 2 the term of step t may only feel steps t and t-1."""
    network, x, state, dy, _ = problem("rnn_tanh", T=5)
    dx = np.zeros_like(x)
    for t in range(5):
        start = max(0, t - 1)
        _, _, saved = reference.forward(network, x, state)
        fixed = tuple(part[None] for part in saved.steps[0][start].state)
        term = lambda v, t=t, fixed=fixed: (reference.forward(network, v, fixed)[0][-1] * dy[t]).sum()
        dx[start : t + 1] += reference.numerical_gradient(term, x[start : t + 1])
    assert relative_error(reference.bptt_window(network, x, state, dy, 2).dx, dx) < 1e-7


def test_a_chunk_is_a_sequence_of_its_own():
    """Slopes: each chunk starts from a state held fixed."""
    network, x, state, dy, _ = problem("lstm", T=5)
    dx, fixed = np.zeros_like(x), state
    for start in range(0, 5, 2):
        part = slice(start, start + 2)
        run = lambda v, fixed=fixed, part=part: (reference.forward(network, v, fixed)[0] * dy[part]).sum()
        dx[part] = reference.numerical_gradient(run, x[part])
        fixed = reference.forward(network, x[part], fixed)[1]
    assert relative_error(reference.bptt_chunked(network, x, state, dy, 2).dx, dx) < 1e-7


def test_the_slope_at_whole_numbers_is_that_of_the_function_between_them():
    slope = reference.numerical_gradient(lambda v: float((v**3).sum()), np.array([[1, -2], [3, 0]], "int8"))
    np.testing.assert_allclose(slope, [[3, 12], [27, 0]], atol=1e-6)


def test_bad_input_is_named_with_its_value_and_the_remedy():
    network, x, state, dy, _ = problem("lstm")
    for bad, message in [
        (x[..., :2], r"x has shape \(5, 3, 2\), expected \(T, B, 4\)"),
        (x[:0], "at least one time step"),
        (x.astype("float32"), r"x has dtype float32.*astype\('float64'\)"),
        (x.tolist(), "x is a list of 5, expected a NumPy array"),
        (np.where(x == x[2, 1, 0], np.nan, x), r"x holds nan at index \(2, 1, 0\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            reference.forward(network, bad, state)
    with pytest.raises(ValueError, match=r"lstm.*\b1\b"):
        reference.forward(network, x, state[:1])
    with pytest.raises(ValueError, match=r"state c has shape \(1, 3, 2\), expected \(1, 3, 3\)"):
        reference.forward(network, x, (state[0], state[1][..., :2]))
    with pytest.raises(ValueError, match=r"\(4, 3, 3\).*\(5, 3, 3\)"):
        reference.bptt_linear(network, x, state, dy[:4])
    for steps in (0, 2.5):
        with pytest.raises(ValueError, match=rf"\b{steps}\b"):
            reference.bptt_window(network, x, state, dy, steps)


@pytest.mark.parametrize("sweep", ["bptt_linear", "bptt_quadratic", "bptt_window", "bptt_chunked"])
def test_a_gradient_for_more_steps_than_there_are_is_refused(sweep):
    network, x, state, dy, _ = problem("gru")
    length = () if sweep in ("bptt_linear", "bptt_quadratic") else (2,)
    with pytest.raises(ValueError, match=r"\(10, 3, 3\).*\(5, 3, 3\)"):
        getattr(reference, sweep)(network, x, state, np.concatenate([dy, dy]), *length)
