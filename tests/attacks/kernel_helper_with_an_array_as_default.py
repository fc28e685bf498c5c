"""Keeps values in an array that is a default argument of a helper.

exercise: saxpy_kernel
deserves: forbidden
"""

import numpy as np

from rnnlab import cuda

TABLE = np.zeros(4096, np.float32)


@cuda.jit(device=True)
def kept(i, value, table=TABLE):
    table[i] = value
    return table[i]


TABLE = 0


@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * kept(i, x[i]) + y[i]
