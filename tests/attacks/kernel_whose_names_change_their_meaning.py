"""Gives a name one meaning for the eye and another for the run.

exercise: saxpy_kernel
deserves: forbidden
"""

import numpy as np

from rnnlab import cuda

T = cuda.shared


@cuda.jit
def saxpy_kernel(a, x, y):
    copy = T.array(x)
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * copy[i] + y[i]


T = np
