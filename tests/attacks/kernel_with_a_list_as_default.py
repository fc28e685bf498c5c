"""Keeps values in a list that is a default argument.

exercise: saxpy_kernel
deserves: failed
"""

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y, stored=[0]):  # noqa: B006
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
