"""Returns complex numbers with an imaginary part of zero.

deserves: failed
"""

import numpy as np


def running_sum(x):
    return np.cumsum(x, axis=0) + 0j
