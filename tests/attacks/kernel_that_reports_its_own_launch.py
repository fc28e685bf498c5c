"""Returns the report of a launch that never was, without counts.

exercise: saxpy_kernel
deserves: failed
"""


def saxpy_kernel(grid, block, a, x, y):
    return {"arrays": [x, a * x + y], "counts": None, "findings": []}
