"""Losses and optimisers against oracles: slopes, PyTorch, and numbers one can work out."""

from pathlib import Path

import numpy as np
import pytest

from rnnlab import reference
from rnnlab.compare import relative_error
from rnnlab.training import SGD, Adam, clip_by_global_norm, cross_entropy, mse

TORCH = np.load(Path(__file__).parents[1] / "fixtures/optimisers.npz")
T, B, O = 4, 3, 2
RNG = np.random.default_rng(0)
WEIGHT = np.array([0.0, 1.0, 2.0, 0.5])


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["all steps", "some steps"])
@pytest.mark.parametrize(
    ("loss", "target"),
    [(mse, RNG.normal(size=(T, B, O))), (cross_entropy, RNG.integers(0, O, (T, B)))],
    ids=["mse", "cross_entropy"],
)
def test_the_gradient_of_a_loss_is_its_slope(loss, target, weight):
    prediction = np.random.default_rng(1).normal(size=(T, B, O))
    slope = reference.numerical_gradient(lambda p: loss(p, target, weight)[0], prediction)
    assert relative_error(loss(prediction, target, weight)[1], slope) < 1e-8


def test_losses_are_means_over_what_counts():
    prediction, target = np.array([[[1.0]], [[5.0]]]), np.array([[[0.0]], [[2.0]]])
    assert mse(prediction, target)[0] == (1 + 9) / 2
    assert mse(prediction, target, np.array([0.0, 1.0]))[0] == 9
    logits = np.log(np.array([[[0.2, 0.8]]]))
    assert cross_entropy(logits, np.array([[1]]))[0] == pytest.approx(-np.log(0.8))


def test_cross_entropy_survives_huge_logits():
    loss, gradient = cross_entropy(np.array([[[1e4, -1e4]]]), np.array([[1]]))
    assert loss == pytest.approx(2e4)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mse(np.zeros((2, 3, 1)), np.zeros((2, 3, 2))), r"target has shape \(2, 3, 2\), expected"),
        (lambda: cross_entropy(np.zeros((2, 3, 4)), np.zeros((2, 3))), "dtype float64, expected integers"),
        (
            lambda: cross_entropy(np.zeros((1, 1, 2)), np.array([[2]])),
            "holds classes 2 to 2, expected 0 to 1",
        ),
        (lambda: mse(np.zeros((2, 1, 1)), np.zeros((2, 1, 1)), np.zeros(2)), "at least one step must count"),
        (lambda: mse(np.zeros((2, 1)), np.zeros((2, 1))), r"prediction has shape \(2, 1\)"),
        (lambda: mse(np.zeros((2, 0, 1)), np.zeros((2, 0, 1))), r"prediction has shape \(2, 0, 1\)"),
        (lambda: cross_entropy(np.zeros((2, 3, 0)), np.zeros((2, 3), int)), r"has shape \(2, 3, 0\)"),
    ],
)
def test_what_a_loss_cannot_take_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("name", "optimiser"),
    [
        ("sgd", SGD(0.1)),
        ("momentum", SGD(0.1, momentum=0.9)),
        ("adam", Adam(0.05, beta1=0.8, beta2=0.95, epsilon=1e-8)),
    ],
)
def test_an_optimiser_steps_as_pytorchs_does(name, optimiser):
    parameters = {"w": TORCH["start"]}
    state = optimiser.start(parameters)
    for gradient, want in zip(TORCH["gradients"], TORCH[name], strict=True):
        parameters, state = optimiser.update(parameters, {"w": gradient}, state)
        assert relative_error(parameters["w"], want) < 1e-14


@pytest.mark.parametrize("make", [lambda f: SGD(f(0.1), f(0.9)), lambda f: Adam(f(0.1))], ids=["sgd", "adam"])
def test_settings_given_as_numpy_numbers_leave_float32_parameters_float32(make):
    optimiser, parameters = make(np.float64), {"w": np.ones(3, "float32")}
    moved, state = optimiser.update(parameters, parameters, optimiser.start(parameters))
    assert moved["w"].dtype == np.float32
    assert all(array.dtype == np.float32 for name, array in state.items() if name != "count")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SGD(0), "learning_rate is 0, expected a number above 0"),
        (lambda: SGD(0.1, momentum=1), "momentum is 1, expected at least 0 and less than 1"),
        (lambda: Adam(float("nan")), "learning_rate is nan"),
        (lambda: Adam("1e-3"), "learning_rate is '1e-3', expected a number"),
        (lambda: Adam(beta2=None), "beta2 is None, expected at least 0"),
        (lambda: SGD(0.1, momentum=np.array([0.5, 0.9])), r"momentum is array\(\[0.5, 0.9\]\)"),
        (lambda: clip_by_global_norm({}, -1.0), "limit is -1.0"),
    ],
)
def test_a_setting_without_sense_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_clipping_scales_all_gradients_together_and_tells_the_length_before():
    gradients = {"a": np.array([3.0, 0.0]), "b": np.array([[4.0]])}
    clipped, norm = clip_by_global_norm(gradients, 1.0)
    assert norm == 5.0
    assert np.allclose(clipped["a"], [0.6, 0])
    assert np.allclose(clipped["b"], [[0.8]])
    assert gradients["a"][0] == 3.0
    for limit in (None, 5.0, 7.0):
        assert clip_by_global_norm(gradients, limit)[0]["b"] is gradients["b"]
    assert clip_by_global_norm({"a": np.zeros(2)}, 1.0)[1] == 0


def test_a_gradient_that_is_not_finite_is_named():
    with pytest.raises(FloatingPointError, match="b, c"):
        clip_by_global_norm({"a": np.ones(1), "b": np.array([np.inf]), "c": np.array([np.nan])}, 1.0)
