"""FLOPs of a launch by line and dtype, held against counts by hand."""

import numpy as np
import pytest
from kernels_with_flops import CASES, MATRIX, X, place_of
from launches import line_of
from simulated_kernels import tiled_matmul
from values_in import holds

from pocketgpu import cuda


def observed(case):
    arguments = (argument.copy() if np.ndim(argument) else argument for argument in case.arguments)
    return cuda.observe(case.kernel, case.grid, case.block, *arguments)


@pytest.mark.parametrize("name", CASES)
def test_a_launch_has_the_flops_that_were_counted_by_hand(name):
    case = CASES[name]
    seen = observed(case)
    assert seen.counts.flops == case.total
    places = {mark: seen.lines.get(place_of(mark)) for mark in case.lines}
    assert {mark: (place and place.flops) or None for mark, place in places.items()} == case.lines


def test_a_matrix_product_takes_all_on_the_line_of_its_sum():
    lines = observed(CASES["matrix product"]).lines
    assert [line for line, counts in lines.items() if counts.flops] == [line_of(tiled_matmul, "total +=")]


@cuda.jit
def two_types(x, y):
    value = x[0]
    if x[1] > 0:
        value = (x[1], x[2])
    y[0] = value[0] if x[1] > 0 else value


def test_a_kernel_that_numba_cannot_compile_is_told_why_its_operations_are_not_counted():
    report = cuda.observe(two_types, 1, 1, X, X.copy())
    assert report.counts.flops == {}
    assert holds(str(report).splitlines()[0], "FLOPs", "two_types")
    assert "FLOPs unknown" in report._repr_html_()


def test_the_report_shows_them_beside_the_source():
    shown = str(cuda.observe(tiled_matmul, (4, 4), (8, 8), MATRIX, MATRIX, MATRIX.copy()))
    assert "65,536 FLOPs in float32" in shown.splitlines()[0]
    assert shown.splitlines()[1].split()[-1] == "FLOPs"
