"""Keeps values in an array that is a default argument, where nobody counts.

exercise: saxpy_kernel
deserves: forbidden
"""

import numpy as np

from rnnlab import cuda

TABLE = np.zeros(4096, np.float32)


@cuda.jit
def saxpy_kernel(a, x, y, table=TABLE):
    i = cuda.grid(1)
    if i < x.size:
        table[i] = x[i]
        y[i] = a * table[i] + y[i]


TABLE = 0
