"""FLOPs of a launch by line and dtype, held against counts by hand."""

import math

import numpy as np
import pytest
import simulated_kernels
from launches import line_of
from values_in import holds

from pocketgpu import cuda

X = np.linspace(0.1, 1, 40, dtype=np.float32)  # not a multiple of a warp
MATRIX = np.ones((32, 32), np.float32)
HALF = np.float32(0.5)


def flops(kernel, grid, block, *arguments):
    """FLOPs of one launch, and by line."""
    seen = cuda.observe(
        kernel, grid, block, *(argument.copy() if np.ndim(argument) else argument for argument in arguments)
    )
    return seen.counts.flops, {line: counts.flops for line, counts in seen.lines.items() if counts.flops}


@cuda.jit(device=True)
def sigmoid(x):
    one = np.float32(1)
    return one / (one + math.exp(-x))  # two and a function


@cuda.jit
def gates(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = sigmoid(x[i]) * math.tanh(y[i])  # one and a function


@cuda.jit
def fused(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = cuda.fma(x[i], x[i], y[i]) - HALF


@cuda.jit
def horner(coefficients, x, y):
    i = cuda.grid(1)
    if i < x.size:
        total = np.float32(0)
        for k in range(coefficients.size):
            total = total * x[i] + coefficients[k]  # two
        y[i] = total


@cuda.jit
def every_other(x, y):
    i = cuda.grid(1)
    if i >= x.size:
        return
    value = x[i]
    if i % 2 == 0:
        value = value * value + value * HALF  # three, in half of the threads
    else:
        y[i] = HALF
    y[i] += value  # one


@cuda.jit
def without_memory(x, y):
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        while value > HALF:
            value = value * HALF  # nobody writes down how often
        y[i] = value + HALF  # one


@cuda.jit
def exact_number(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i]


@cuda.jit
def integers(x, y):
    i = cuda.grid(1)
    if i * 2 + 1 < x.size:
        y[i] = x[(i * 2 + 1) // 2]


@pytest.mark.parametrize("kernel", [simulated_kernels.tiled_matmul])
def test_a_matrix_product_takes_two_for_each_of_its_terms(kernel):
    total, lines = flops(kernel, (4, 4), (8, 8), MATRIX, MATRIX, MATRIX)
    assert total == {"float32": 2 * 32**3}
    assert lines == {line_of(kernel, "total +="): total}


def test_threads_beyond_the_end_compute_nothing():
    assert flops(simulated_kernels.saxpy, 2, 32, np.float32(2), X, X)[0] == {"float32": 2 * 40}


def test_the_dtype_is_that_of_the_operation():
    assert flops(simulated_kernels.saxpy, 2, 32, 2.3, X, X)[0] == {"float64": 2 * 40}
    assert flops(simulated_kernels.saxpy, 2, 32, 2.3, X.astype(float), X)[0] == {"float64": 2 * 40}
    assert flops(exact_number, 2, 32, X, X)[0] == {"float32": 40}


def test_functions_are_counted_by_themselves_and_device_functions_with_their_own_lines():
    total, lines = flops(gates, 2, 32, X, X)
    assert total == {"float32": 3 * 40, "float32 functions": 2 * 40}
    assert lines[line_of(gates, "# one")] == {"float32": 40, "float32 functions": 40}
    inner = next(line for line in lines if line != line_of(gates, "# one"))
    assert lines[inner] == {"float32": 2 * 40, "float32 functions": 40}


def test_a_fused_multiplication_and_addition_is_two():
    assert flops(fused, 2, 32, X, X)[0] == {"float32": 3 * 40}


def test_a_loop_counts_as_often_as_it_ran():
    assert flops(horner, 2, 32, np.ones(7, np.float32), X, X)[0] == {"float32": 2 * 7 * 40}


def test_a_branch_counts_for_the_threads_that_took_it():
    total, lines = flops(every_other, 2, 32, X, X)
    assert lines[line_of(every_other, "three")] == {"float32": 3 * 20}
    assert total == {"float32": 3 * 20 + 40}


def test_what_cannot_be_known_is_left_out():
    total, lines = flops(without_memory, 2, 32, X, X)
    assert total == {"float32": 40}
    assert [*lines] == [line_of(without_memory, "# one")]


@cuda.jit
def two_types(x, y):
    value = x[0]
    if x[1] > 0:
        value = (x[1], x[2])
    y[0] = value[0] if x[1] > 0 else value


def test_a_kernel_that_numba_cannot_compile_is_told_why_its_operations_are_not_counted():
    report = cuda.observe(two_types, 1, 1, X, X)
    assert report.counts.flops == {}
    assert holds(str(report).splitlines()[0], "FLOPs", "two_types")
    assert "FLOPs unknown" in report._repr_html_()


def test_work_on_indices_is_no_floating_point_work():
    assert flops(integers, 1, 32, X, X)[0] == {}


@cuda.jit
def rotated(z, y):
    i = cuda.grid(1)
    if i < z.size:
        z[i] *= 0.6 + 0.8j
        y[i] *= HALF


def test_complex_operations_are_left_out():
    assert flops(rotated, 2, 32, X.astype(np.complex64), X)[0] == {"float32": 40}


def test_warps_add_what_they_exchange():
    assert flops(simulated_kernels.warp_sum, 2, 20, X, np.zeros(1, np.float32))[0] == {"float32": 5 * 40}


def test_the_report_shows_them_beside_the_source():
    kernel = simulated_kernels.tiled_matmul
    shown = str(cuda.observe(kernel, (4, 4), (8, 8), MATRIX, MATRIX, MATRIX.copy()))
    assert "65,536 FLOPs in float32" in shown.splitlines()[0]
    assert shown.splitlines()[1].split()[-1] == "FLOPs"
