"""Returns a generator that has computed nothing yet.

deserves: failed
"""

import numpy as np


def running_sum(x):
    return (row for row in np.cumsum(x, axis=0))
