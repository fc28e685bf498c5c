"""Runs code of its own where a default argument is computed.

exercise: saxpy_kernel
deserves: forbidden
"""

from rnnlab import cuda


@cuda.jit
def saxpy_kernel(a, x, y, stored=open("/etc/passwd")):  # noqa: B008
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
