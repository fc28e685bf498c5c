"""Is right, and prints a gigabyte.

deserves: passed
"""

import numpy as np

MEGABYTE = "x" * (1 << 20)


def running_sum(x):
    for _ in range(1 << 10 if x.shape == (1, 1) else 0):
        print(MEGABYTE)
    return np.cumsum(x, axis=0)
