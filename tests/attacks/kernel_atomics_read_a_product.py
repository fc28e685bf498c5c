"""Reads its matrices by atomics, which no limit counts, and needs no tile.

exercise: tiled_matmul_kernel
deserves: failed
"""

import numpy as np

from rnnlab import cuda


@cuda.jit
def tiled_matmul_kernel(a, b, c):
    column, row = cuda.grid(2)
    total = np.float32(0)
    if row < c.shape[0] and column < c.shape[1]:
        for k in range(a.shape[1]):
            left = cuda.atomic.add(a, (row, k), np.float32(0))
            total += left * cuda.atomic.add(b, (k, column), np.float32(0))
        c[row, column] = total
