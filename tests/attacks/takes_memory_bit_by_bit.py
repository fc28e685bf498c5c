"""Takes megabytes until there are none.

deserves: memory
"""

import numpy as np


def running_sum(x):
    taken = []
    while True:
        taken.append(np.empty(64 << 20, dtype="int8"))
