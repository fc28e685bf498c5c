"""Lets the first thread of each row move the whole row of a tile.

exercise: transpose_without_conflicts
deserves: failed
"""

from rnnlab import cuda


@cuda.jit
def transpose_without_conflicts(x, y):
    across, down = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
        for i in range(down, min(down + 32, x.shape[0])):
            for j in range(across, min(across + 32, x.shape[1])):
                y[j, i] = x[i, j]
