"""Waits without using the processor.

deserves: timeout
"""

import time


def running_sum(x):
    time.sleep(10_000)
