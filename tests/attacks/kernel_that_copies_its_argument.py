"""Copies a whole argument with np.array, and reads the copy uncounted.

exercise: saxpy_kernel
deserves: failed
"""

import numpy as np

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    copy = np.array(x)
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * copy[i] + y[i]
