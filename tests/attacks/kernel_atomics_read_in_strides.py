"""Reads elements far from its neighbours' by atomics.

exercise: tanh_kernel
deserves: failed
"""

import math

import numpy as np

from rnnlab import cuda


@cuda.jit
def tanh_kernel(x, y):
    threads = cuda.gridsize(1)
    share = (x.size + threads - 1) // threads
    first = cuda.grid(1) * share
    for i in range(first, min(first + share, x.size)):
        y[i] = math.tanh(cuda.atomic.add(x, i, np.float32(0)))
