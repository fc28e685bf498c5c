"""Runs code whenever the garbage collector runs.

deserves: failed
"""

import gc


def running_sum(x):
    gc.callbacks.append(lambda phase, info: None)
    gc.collect()
    return x * 0
