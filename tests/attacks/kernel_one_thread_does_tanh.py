"""Lets one thread of the grid do all elements.

exercise: tanh_kernel
deserves: failed
"""

import math

from rnnlab import cuda


@cuda.jit
def tanh_kernel(x, y):
    if cuda.grid(1) == 0:
        for i in range(x.size):
            y[i] = math.tanh(x[i])
