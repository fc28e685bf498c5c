"""Is right, and warns.

deserves: passed
"""

import sys
import warnings

import numpy as np


def running_sum(x):
    warnings.warn("this sum is deprecated", DeprecationWarning, stacklevel=1)
    print("warning: this sum is running", file=sys.stderr)
    return np.cumsum(x, axis=0) + 0 * np.log(np.zeros(1)).clip(-1)
