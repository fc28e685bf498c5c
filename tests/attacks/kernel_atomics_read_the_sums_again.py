"""Reads the sums a second time, by atomics.

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
    if row < B and unit < H:
        half, zero = np.float32(0.5), np.float32(0)
        for _ in range(4):
            i = half * math.tanh(half * cuda.atomic.add(sums, (row, unit), zero)) + half
            f = half * math.tanh(half * cuda.atomic.add(sums, (row, H + unit), zero)) + half
            g = math.tanh(cuda.atomic.add(sums, (row, 2 * H + unit), zero))
            o = half * math.tanh(half * cuda.atomic.add(sums, (row, 3 * H + unit), zero)) + half
        new = f * c[row, unit] + i * g
        c_next[row, unit] = new
        h_next[row, unit] = o * math.tanh(new)
        gates[row, unit] = i
        gates[row, H + unit] = f
        gates[row, 2 * H + unit] = g
        gates[row, 3 * H + unit] = o
