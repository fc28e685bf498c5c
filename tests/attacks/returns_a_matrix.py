"""Returns a matrix, whose products are not an array's.

deserves: failed
"""

import numpy as np


def running_sum(x):
    return np.asmatrix(np.cumsum(x, axis=0))
