"""Keeps values in a dictionary.

exercise: saxpy_kernel
deserves: failed
"""

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    stored = {0: x[0]}
    y[0] += 0 * stored[0]
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
