"""The rungs that Numba and CuPy run on a GPU have the reference's numbers; a launch is measured."""

import numpy as np
import pytest

from pocketgpu import cuda
from rnnlab import reference
from rnnlab.cells import find_cell
from rnnlab.gpu import card
from rnnlab.ladder import find, stage_passes
from rnnlab.ladder.facts import WITH_KERNELS
from rnnlab.network import Network

pytestmark = pytest.mark.gpu


def problem(cell, T, B, I, H):
    draw = np.random.default_rng(T)
    network = Network.create(cell, I, H, layers=2, dtype="float64", seed=1)
    states = [tuple(draw.normal(size=(2, B, H)) for _ in find_cell(cell).states) for _ in range(2)]
    return network, draw.normal(size=(T, B, I)), states[0], draw.normal(size=(T, B, H)), states[1]


def assert_the_references_numbers(rung, network, x, state, dy, dstate):
    y, final, saved = reference.forward(network, x, state)
    dx, dfirst, gradients = reference.backward(network, saved, dy, dstate)
    got_y, got_final, got_saved = rung.forward(network, x, state)
    got_dx, got_dfirst, got = rung.backward(network, got_saved, dy, dstate)
    for a, b in zip((got_y, *got_final), (y, *final), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)
    for a, b in zip((got_dx, *got_dfirst), (dx, *dfirst), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(got[name], gradient, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("cell", WITH_KERNELS)
def test_numbas_persistent_kernels_are_right_on_this_gpu(cell):
    assert not cuda.is_simulated
    for hidden in (5, 70):
        assert_the_references_numbers(find("persistent"), *problem(cell, 6, 3, 4, hidden))


@pytest.mark.parametrize("rung", stage_passes())
def test_a_stages_plan_is_right_on_this_gpu(rung):
    assert card.why_not() is None
    for cell in ("lstm", "gru"):
        assert_the_references_numbers(find(rung), *problem(cell, 6, 3, 4, 40))


def test_a_launch_is_measured_between_two_events():
    @cuda.jit
    def add_one(a):
        a[cuda.grid(1)] += 1

    a = cuda.to_device(np.zeros(64))
    assert cuda.observe(add_one, 2, 32, a).seconds > 0
    assert (a.copy_to_host() == 1).all()
