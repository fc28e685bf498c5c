"""Reads a column of one bank by atomics, whose turns no limit counts.

exercise: transpose_without_conflicts
deserves: failed
"""

import numpy as np

from rnnlab import cuda


@cuda.jit
def transpose_without_conflicts(x, y):
    tile = cuda.shared.array((32, 32), np.float32)
    j, first = cuda.threadIdx.x, cuda.threadIdx.y
    across, down = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    for i in range(first, 32, cuda.blockDim.y):
        if down + i < x.shape[0] and across + j < x.shape[1]:
            tile[i, j] = x[down + i, across + j]
    cuda.syncthreads()
    for i in range(first, 32, cuda.blockDim.y):
        if across + i < y.shape[0] and down + j < y.shape[1]:
            y[across + i, down + j] = cuda.atomic.add(tile, (j, i), np.float32(0))
