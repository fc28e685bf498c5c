"""Declares an argument to be constant memory, where reads are not counted.

exercise: saxpy_kernel
deserves: failed
"""

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    copy = cuda.const.array_like(x)
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * copy[i] + y[i]
