"""Imports a module that sees the simulator's objects.

exercise: saxpy_kernel
deserves: forbidden
"""

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    import gc

    gc.collect()
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
