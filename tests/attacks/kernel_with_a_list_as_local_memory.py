"""Keeps values in a list instead of cuda.local.array.

exercise: saxpy_kernel
deserves: failed
"""

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    stored = [x[0], y[0]]
    y[0] += 0 * stored[0]
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
