"""Has a table of a class whose elements run code.

exercise: saxpy_kernel
deserves: forbidden
"""

import numpy as np

from rnnlab import cuda


class Table(np.ndarray):
    def __getitem__(self, place):
        raise SystemExit


TABLE = np.zeros(4, np.float32).view(Table)


@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i] + TABLE[0]
