"""Keeps values in an array beside the kernel, where no race is seen.

exercise: saxpy_kernel
deserves: failed
"""

import numpy as np

from rnnlab import cuda

stored = np.zeros(64)


@cuda.jit
def saxpy_kernel(a, x, y):
    stored[0] = x[0]
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
