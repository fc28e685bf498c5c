"""The rungs that Numba and CuPy run on a GPU have the reference's numbers; a launch is measured."""

import numpy as np
import pytest
from both_ways import both_ways, by_reference, errors, problem

from pocketgpu import cuda
from rnnlab.gpu import card
from rnnlab.ladder import find, stage_passes
from rnnlab.ladder.properties import WITH_KERNELS

pytestmark = pytest.mark.gpu


def assert_the_references_numbers(rung, *example):
    assert max(errors(both_ways(rung, *example), by_reference(*example))) < 1e-11


@pytest.mark.parametrize("cell", WITH_KERNELS)
def test_numbas_persistent_kernels_are_right_on_this_gpu(cell):
    assert not cuda.is_simulated
    for hidden in (5, 70):
        assert_the_references_numbers(find("persistent"), *problem(cell, 6, 3, 4, hidden, 2))


@pytest.mark.parametrize("rung", stage_passes())
def test_a_stages_plan_is_right_on_this_gpu(rung):
    assert card.why_not() is None
    for cell in ("lstm", "gru"):
        assert_the_references_numbers(find(rung), *problem(cell, 6, 3, 4, 40, 2))


def test_a_launch_is_measured_between_two_events():
    @cuda.jit
    def add_one(a):
        a[cuda.grid(1)] += 1

    a = cuda.to_device(np.zeros(64))
    assert cuda.observe(add_one, 2, 32, a).seconds > 0
    assert (a.copy_to_host() == 1).all()
