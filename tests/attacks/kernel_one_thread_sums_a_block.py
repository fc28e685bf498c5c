"""Lets one thread of a block add up everything.

exercise: block_sum_kernel
deserves: failed
"""

import numpy as np

from rnnlab import cuda


@cuda.jit
def block_sum_kernel(x, out):
    if cuda.threadIdx.x == 0:
        total = np.float32(0)
        for i in range(cuda.grid(1), min(cuda.grid(1) + cuda.blockDim.x, x.size)):
            total += x[i]
        out[cuda.blockIdx.x] = total
