"""Is right, and leaves threads behind.

deserves: passed
"""

import threading
import time

import numpy as np


def running_sum(x):
    for _ in range(4):
        threading.Thread(target=time.sleep, args=(10_000,)).start()
    return np.cumsum(x, axis=0)
