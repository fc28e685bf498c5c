"""Reads numbers that run code from a table of objects.

exercise: saxpy_kernel
deserves: forbidden
"""

import numpy as np

from rnnlab import cuda


class Number:
    def __radd__(self, other):
        raise SystemExit

    def __rmul__(self, other):
        raise SystemExit


TABLE = np.array([Number()], dtype=object)


@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i] + TABLE[0]
