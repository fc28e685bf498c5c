"""Has a table of a gigabyte beside it.

exercise: saxpy_kernel
deserves: too_big
"""

import numpy as np

from rnnlab import cuda

TABLE = np.zeros(1 << 28, np.float32)


@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i] + TABLE[0]
