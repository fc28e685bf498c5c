"""Asks for shared memory segments of System V, which stay when no process has them.

deserves: crashed
"""

import ctypes
import sys

import numpy as np

libc = ctypes.CDLL(None)


def running_sum(x):
    segment = libc.shmget(0, ctypes.c_size_t(1 << 20), 0o1600)
    if segment < 0 or sys.platform != "linux":
        raise OSError("no segment")
    libc.shmctl(segment, 0, None)
    return np.cumsum(x, axis=0)
