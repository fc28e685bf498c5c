"""Lets one thread compute all units of a sequence.

exercise: lstm_pointwise_kernel
deserves: failed
"""

import math

import numpy as np

from rnnlab import cuda


@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    unit, row = cuda.grid(2)
    B, H = c.shape
    half = np.float32(0.5)
    if row < B and unit == 0:
        for u in range(H):
            i = half * math.tanh(half * sums[row, u]) + half
            f = half * math.tanh(half * sums[row, H + u]) + half
            g = math.tanh(sums[row, 2 * H + u])
            o = half * math.tanh(half * sums[row, 3 * H + u]) + half
            new = f * c[row, u] + i * g
            c_next[row, u] = new
            h_next[row, u] = o * math.tanh(new)
            gates[row, u] = i
            gates[row, H + u] = f
            gates[row, 2 * H + u] = g
            gates[row, 3 * H + u] = o
