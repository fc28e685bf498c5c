"""Writes through address zero.

deserves: crashed
"""

import ctypes


def running_sum(x):
    ctypes.memset(0, 1, 1)
    return x
