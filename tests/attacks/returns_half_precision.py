"""Returns the right numbers, rounded to 16 bits.

deserves: failed
"""

import numpy as np


def running_sum(x):
    return np.cumsum(x, axis=0).astype(np.float16)
