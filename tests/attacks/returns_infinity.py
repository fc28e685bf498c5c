"""Returns numbers beyond all tolerance.

deserves: failed
"""

import numpy as np


def running_sum(x):
    return np.full(x.shape, np.inf)
