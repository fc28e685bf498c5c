"""Lets one thread of a block smooth everything, without a barrier.

exercise: fix_the_race
deserves: failed
"""

import numpy as np

from rnnlab import cuda


@cuda.jit
def fix_the_race(x, steps):
    part = cuda.local.array((2, 32), np.float32)
    first, n = cuda.grid(1), cuda.blockDim.x
    if cuda.threadIdx.x == 0:
        for i in range(n):
            part[0, i] = x[first + i]
        for step in range(steps):
            now = step % 2
            for i in range(n):
                total = part[now, (i + n - 1) % n] + part[now, i] + part[now, (i + 1) % n]
                part[1 - now, i] = total / np.float32(3)
        for i in range(n):
            x[first + i] = part[steps % 2, i]
