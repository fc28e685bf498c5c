"""Returns what is neither equal nor unequal to anything.

deserves: failed
"""

import numpy as np


def running_sum(x):
    return np.full(x.shape, np.nan)
