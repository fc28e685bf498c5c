"""The CUDA C++ kernels where there is a GPU: sizes that fill it, right, with the same bits twice."""

import numpy as np
import pytest
from test_persistent_cuda import problem, ran, wanted, worst

from rnnlab.compare import TOLERANCES
from rnnlab.kernels.persistence.chooser import abilities
from rnnlab.kernels.persistence.cuda_chip import CudaChip
from rnnlab.kernels.persistence.shapes import cluster_shape, grid_shape

pytestmark = pytest.mark.gpu

SIZES = [(20, 20, 512), (50, 3, 128), (1, 1, 64)]  # T, B, H
GRID_SIZES = [*SIZES, (12, 64, 1024), (6, 8, 2048)]


def shape_or_skip(make):
    """The shape for this GPU; what it cannot have is no failure."""
    try:
        return make(abilities().sheet)
    except ValueError as error:
        pytest.skip(str(error))


def assert_right(shape, sizes):
    """Two runs against float64, and against each other."""
    inputs = problem(shape.cell, shape.precision, sizes, layers=2)
    want, tolerance = wanted(*inputs), TOLERANCES[shape.precision]
    runs = [ran(shape, CudaChip(shape.precision), *inputs) for _ in range(2)]
    assert worst(runs[0][0], want[0]) <= tolerance.forward(sizes[0])
    assert worst(runs[0][1], want[1]) <= tolerance.gradient
    for first, second in zip(*runs, strict=True):
        for name in first:
            np.testing.assert_array_equal(first[name], second[name])


@pytest.mark.parametrize("sizes", GRID_SIZES, ids=str)
@pytest.mark.parametrize("precision", ["bfloat16", "float16", "tf32"])
@pytest.mark.parametrize("cell", ["rnn_tanh", "rnn_relu", "gru", "lstm"])
def test_the_grid_wide_kernels_are_right_on_this_gpu(cell, precision, sizes):
    assert_right(shape_or_skip(lambda device: grid_shape(cell, sizes[2], precision, sizes[1], device)), sizes)


@pytest.mark.parametrize("bulk", [False, True], ids=["packets", "bulk"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
@pytest.mark.parametrize("cell", ["rnn_tanh", "rnn_relu", "gru", "lstm"])
def test_the_clusters_kernels_are_right_on_this_gpu(cell, precision, sizes, bulk):
    shape = shape_or_skip(lambda device: cluster_shape(cell, sizes[2], precision, device, bulk))
    assert_right(shape, sizes)
