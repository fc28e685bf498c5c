"""Returns a structured array.

deserves: failed
"""

import numpy as np


def running_sum(x):
    return np.zeros(x.shape, dtype=[("a", float)])
