"""Derives a kernel class of its own from the simulator's.

exercise: saxpy_kernel
deserves: forbidden
"""

from rnnlab import cuda


class Mine(type(cuda.jit(len))):
    pass


@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
