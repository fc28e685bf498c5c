"""Lets one lane of a warp add up everything, without a shuffle.

exercise: warp_sum_kernel
deserves: failed
"""

import numpy as np

from rnnlab import cuda


@cuda.jit
def warp_sum_kernel(x, out):
    if cuda.laneid == 0:
        total = np.float32(0)
        for i in range(cuda.grid(1), min(cuda.grid(1) + 32, x.size)):
            total += x[i]
        out[cuda.grid(1) // 32] = total
