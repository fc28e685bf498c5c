"""Overwrites what the number 1 is in its interpreter.

deserves: crashed
"""

import ctypes


def running_sum(x):
    ctypes.memset(id(1), 0, 28)
    return x * 0
