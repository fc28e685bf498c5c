"""Writes to a table through a second view of its memory.

exercise: saxpy_kernel
deserves: failed
"""

import numpy as np

from rnnlab import cuda

TABLE = np.zeros(4096, np.float32)
VIEW = np.ndarray((4096,), np.float32, TABLE)


@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        VIEW[i] = x[i]
        y[i] = a * VIEW[i] + y[i]
