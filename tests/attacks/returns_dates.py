"""Returns dates in place of numbers.

deserves: failed
"""

import numpy as np


def running_sum(x):
    return np.zeros(x.shape, dtype="datetime64[s]")
