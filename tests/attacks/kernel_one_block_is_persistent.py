"""Lets the threads of one block compute all units, so that no block has to wait.

exercise: persistent_rnn_kernel
deserves: failed
"""

import math

import numpy as np

from rnnlab import cuda


@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    own = cuda.local.array((16, 16), np.float32)
    if cuda.blockIdx.x == 0:
        for unit in range(cuda.threadIdx.x, 16, cuda.blockDim.x):
            for k in range(16):
                own[unit, k] = weights[unit, k]
        for t in range(inputs.shape[0]):
            for unit in range(cuda.threadIdx.x, 16, cuda.blockDim.x):
                total = inputs[t, unit]
                for k in range(16):
                    total += own[unit, k] * h[t, k]
                h[t + 1, unit] = math.tanh(total)
            cuda.syncthreads()
