"""Has a decorator that puts a plain function in the kernel's place.

exercise: saxpy_kernel
deserves: forbidden
"""

from rnnlab import cuda


def swapped(kernel):
    return lambda grid, block, a, x, y: (x, a * x + y)


@swapped
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
