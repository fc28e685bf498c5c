"""Lets one thread do all elements.

exercise: saxpy_kernel
deserves: failed
"""

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    if cuda.grid(1) == 0:
        for i in range(x.size):
            y[i] = a * x[i] + y[i]
