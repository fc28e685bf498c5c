"""Kernels with the floating-point operations of one launch counted by hand, in all and by marked lines.

A comment that begins with # and a capital letter marks a line.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import simulated_kernels
from kernel_cases import table_of

from pocketgpu import cuda

X = np.linspace(0.1, 1, 40, dtype=np.float32)  # not a multiple of a warp
MATRIX = np.ones((32, 32), np.float32)
HALF = np.float32(0.5)
SINGLE = "float32"
FUNCTIONS = "float32 functions"


class Case(NamedTuple):
    """A launch; total: {dtype: operations}; lines: {mark: the same}."""

    kernel: Callable
    total: dict
    arguments: tuple = (X, X)
    lines: Mapping = MappingProxyType({})
    grid: object = 2
    block: object = 32


CASES, counts = table_of(Case)


def place_of(mark):
    """Number of the line with that mark."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


@cuda.jit(device=True)
def sigmoid(x):
    one = np.float32(1)
    return one / (one + math.exp(-x))  # Two and a function


@counts(
    {SINGLE: 3 * 40, FUNCTIONS: 2 * 40},
    lines={
        "One and a function": {SINGLE: 40, FUNCTIONS: 40},
        "Two and a function": {SINGLE: 2 * 40, FUNCTIONS: 40},
    },
)
def has_functions_and_a_device_function(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = sigmoid(x[i]) * math.tanh(y[i])  # One and a function


@counts({SINGLE: 3 * 40})
def fuses_a_multiplication_and_an_addition(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = cuda.fma(x[i], x[i], y[i]) - HALF


@counts({SINGLE: 2 * 7 * 40}, (np.ones(7, np.float32), X, X))
def loops_over_coefficients(coefficients, x, y):
    i = cuda.grid(1)
    if i < x.size:
        total = np.float32(0)
        for k in range(coefficients.size):
            total = total * x[i] + coefficients[k]
        y[i] = total


@counts({SINGLE: 3 * 20 + 40}, lines={"Three in half of the threads": {SINGLE: 3 * 20}})
def computes_more_in_every_other_thread(x, y):
    i = cuda.grid(1)
    if i >= x.size:
        return
    value = x[i]
    if i % 2 == 0:
        value = value * value + value * HALF  # Three in half of the threads
    else:
        y[i] = HALF
    y[i] += value


@counts({SINGLE: 40}, lines={"Nobody writes down how often": None, "One": {SINGLE: 40}})
def loops_without_memory(x, y):
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        while value > HALF:
            value = value * HALF  # Nobody writes down how often
        y[i] = value + HALF  # One


@counts({SINGLE: 40})
def multiplies_by_a_literal(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i]


@counts({}, grid=1)
def computes_with_indices_alone(x, y):
    i = cuda.grid(1)
    if i * 2 + 1 < x.size:
        y[i] = x[(i * 2 + 1) // 2]


@counts({SINGLE: 40}, (X.astype(np.complex64), X))
def has_complex_operations_that_are_left_out(z, y):
    i = cuda.grid(1)
    if i < z.size:
        z[i] *= 0.6 + 0.8j
        y[i] *= HALF


CASES |= {
    "matrix product": Case(
        simulated_kernels.tiled_matmul,
        {SINGLE: 2 * 32**3},
        (MATRIX, MATRIX, MATRIX),
        grid=(4, 4),
        block=(8, 8),
    ),
    "saxpy": Case(simulated_kernels.saxpy, {SINGLE: 2 * 40}, (np.float32(2), X, X)),
    "saxpy by a double": Case(simulated_kernels.saxpy, {"float64": 2 * 40}, (2.3, X, X)),
    "saxpy of doubles": Case(simulated_kernels.saxpy, {"float64": 2 * 40}, (2.3, X.astype(float), X)),
    "sum of a warp": Case(
        simulated_kernels.warp_sum, {SINGLE: 5 * 40}, (X, np.zeros(1, np.float32)), block=20
    ),
}
