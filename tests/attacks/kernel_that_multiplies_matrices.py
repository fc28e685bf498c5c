"""Imports matmul, and lets one thread do all work.

exercise: saxpy_kernel
deserves: failed
"""

from numpy import matmul

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    if cuda.grid(1) == 0:
        y[0] = matmul(x, y)
