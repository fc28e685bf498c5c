"""Stops every clock it can reach, then takes as long as it likes.

deserves: timeout
"""

import time

import numpy as np

sleep = time.sleep
time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0


def running_sum(x):
    sleep(60)
    return np.cumsum(x, axis=0)
