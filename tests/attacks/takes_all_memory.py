"""Asks for a hundred gigabytes at once.

deserves: memory
"""

import numpy as np


def running_sum(x):
    return np.ones(100 << 30, dtype="int8")
