"""Keeps values in a list beside the kernel, where no race is seen.

exercise: saxpy_kernel
deserves: failed
"""

from rnnlab import cuda

stored = [0.0] * 64


@cuda.jit
def saxpy_kernel(a, x, y):
    stored[0] = x[0]
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
