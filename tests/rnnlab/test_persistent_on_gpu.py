"""The CUDA C++ kernels where there is a GPU: sizes that fill it, right, with the same bits twice.

A test is a process of its own (conftest.py), so it tries all sizes of one cell and dtype.
"""

import numpy as np
import pytest
from test_persistent_cuda import problem, ran, wanted, worst

from rnnlab.compare import TOLERANCES
from rnnlab.kernels.persistence.shapes import cluster_shape, grid_shape
from rnnlab.ladder.chooser import abilities
from rnnlab.ladder.cuda_chip import CudaChip

pytestmark = pytest.mark.gpu

SIZES = [(20, 20, 512), (50, 3, 128), (1, 1, 64)]  # T, B, H
GRID_SIZES = [*SIZES, (12, 64, 1024), (6, 8, 2048)]
CELLS = ["lstm", "gru", "rnn_tanh", "rnn_relu"]


def assert_right(cases, chip_for):
    """Two runs of each case against float64, and against each other; cases: (function of a shape, sizes).

    What this GPU cannot have is not a failure; the test is skipped if that is all of it.
    """
    refusals = []
    for make, sizes in cases:
        try:
            shape = make()
        except ValueError as error:
            refusals.append(str(error))
            continue
        inputs = problem(shape.cell, shape.dtype, sizes, layers=2)
        want, tolerance = wanted(*inputs), TOLERANCES[shape.dtype]
        runs = [ran(shape, chip_for(shape.dtype), *inputs) for _ in range(2)]
        assert worst(runs[0][0], want[0]) <= tolerance.forward(sizes[0]), shape
        assert worst(runs[0][1], want[1]) <= tolerance.gradient, shape
        for first, second in zip(*runs, strict=True):
            for name in first:
                np.testing.assert_array_equal(first[name], second[name], err_msg=f"{name} of {shape}")
    if len(refusals) == len(cases):
        pytest.skip("; ".join(refusals))


def grid_cases(cell, dtype, sizes, device):
    """For assert_right."""
    return [(lambda B=B, H=H: grid_shape(cell, H, dtype, B, device), (T, B, H)) for T, B, H in sizes]


def cluster_cases(cell, dtype, sizes, device):
    """For assert_right: packets, and bulk copies."""
    return [
        (lambda H=H, bulk=bulk: cluster_shape(cell, H, dtype, device, bulk), (T, B, H))
        for bulk in (False, True)
        for T, B, H in sizes
    ]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "tf32"])
@pytest.mark.parametrize("cell", CELLS)
def test_the_grid_wide_kernels_are_right_on_this_gpu(cell, dtype):
    assert_right(grid_cases(cell, dtype, GRID_SIZES, abilities().sheet), CudaChip)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("cell", CELLS)
def test_the_clusters_kernels_are_right_on_this_gpu(cell, dtype):
    assert_right(cluster_cases(cell, dtype, SIZES, abilities().sheet), CudaChip)
