"""Is right, and leaves other numbers in its input.

deserves: failed
"""

import numpy as np


def running_sum(x):
    np.cumsum(x, axis=0, out=x)
    return x
