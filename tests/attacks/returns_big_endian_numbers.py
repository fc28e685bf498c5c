"""Is right, in the other byte order.

deserves: failed
"""

import numpy as np


def running_sum(x):
    return np.cumsum(x, axis=0).astype(">f8")
