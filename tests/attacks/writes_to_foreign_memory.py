"""Writes to address 0 through ctypes: a segmentation fault.

deserves: crashed
"""

import ctypes


def running_sum(x):
    ctypes.memset(0, 1, 1)
    return x
