"""Returns eighty megabytes where a few numbers are expected.

deserves: too_big
"""

import numpy as np


def running_sum(x):
    return np.zeros(10_000_000)
