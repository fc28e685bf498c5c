"""Makes a second view of an argument, whose loads nobody counts.

exercise: saxpy_kernel
deserves: failed
"""

import numpy as np

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    view = np.ndarray(x.shape, x.dtype, x)
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * view[i] + y[i]
