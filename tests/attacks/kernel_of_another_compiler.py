"""Compiles itself for the CPU.

exercise: saxpy_kernel
deserves: forbidden
"""

from numba import njit

from rnnlab import cuda


@njit
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
