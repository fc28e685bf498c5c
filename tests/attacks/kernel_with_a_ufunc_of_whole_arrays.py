"""Computes all elements in one thread by a ufunc with a place for its result.

exercise: saxpy_kernel
deserves: failed
"""

from numpy import multiply

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    if cuda.grid(1) == 0:
        multiply(x, a, y)
