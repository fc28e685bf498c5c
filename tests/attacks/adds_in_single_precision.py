"""Adds up with too few digits.

deserves: failed
"""

import numpy as np


def running_sum(x):
    return np.cumsum(x.astype(np.float32), axis=0).astype(np.float64)
