"""Looks into an array by a pattern of a class.

exercise: saxpy_kernel
deserves: forbidden
"""

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    match x:
        case object(base=memory):
            y[i] = a * memory[i] + y[i]
