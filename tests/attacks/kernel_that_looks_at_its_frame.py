"""Looks at the frames that called it, for the counts.

exercise: saxpy_kernel
deserves: forbidden
"""

import sys

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    sys._getframe()
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
