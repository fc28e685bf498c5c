"""Asks for a file of its own to be linked.

exercise: saxpy_kernel
deserves: forbidden
"""

from rnnlab import cuda


@cuda.jit(link=["kernel.cu"])
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
