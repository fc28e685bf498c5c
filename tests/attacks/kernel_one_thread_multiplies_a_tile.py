"""Lets one thread of a block compute the tile from local arrays.

exercise: tiled_matmul_kernel
deserves: failed
"""

import numpy as np

from rnnlab import cuda


@cuda.jit
def tiled_matmul_kernel(a, b, c):
    row_of_a = cuda.local.array(64, np.float32)
    part_of_b = cuda.local.array((64, 8), np.float32)
    if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
        top, left = cuda.blockIdx.y * 8, cuda.blockIdx.x * 8
        width = min(8, c.shape[1] - left)
        for k in range(b.shape[0]):
            for j in range(width):
                part_of_b[k, j] = b[k, left + j]
        for i in range(top, min(top + 8, c.shape[0])):
            for k in range(a.shape[1]):
                row_of_a[k] = a[i, k]
            for j in range(width):
                total = np.float32(0)
                for k in range(a.shape[1]):
                    total += row_of_a[k] * part_of_b[k, j]
                c[i, left + j] = total
