"""Reads all weights in each step, by atomics.

exercise: persistent_rnn_kernel
deserves: failed
"""

import math

import numpy as np

from rnnlab import cuda


@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += cuda.atomic.add(weights, (unit, k), np.float32(0)) * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()
