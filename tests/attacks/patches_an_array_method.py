"""Replaces the function by which numbers are packed.

deserves: crashed
"""

import numpy as np

np.ndarray = list


def running_sum(x):
    return [0]
