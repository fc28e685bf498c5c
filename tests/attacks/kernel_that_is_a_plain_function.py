"""Computes with NumPy in a plain function, and returns what a launch would.

exercise: saxpy_kernel
deserves: failed
"""


def saxpy_kernel(grid, block, a, x, y):
    return (x, a * x + y)
