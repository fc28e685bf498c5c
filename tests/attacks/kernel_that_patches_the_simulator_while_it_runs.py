"""Changes the index of its thread while it runs.

exercise: saxpy_kernel
deserves: forbidden
"""

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
    cuda.threadIdx.x = 0
