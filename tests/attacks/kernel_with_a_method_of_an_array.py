"""Calls a method that reads a whole array.

exercise: saxpy_kernel
deserves: forbidden
"""

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x.max() * a * x[i] + y[i]
