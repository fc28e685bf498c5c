"""Is right, and lays three gigabytes into memfds in several processes, without ever mapping them.

deserves: memory
seconds: 30
"""

import ctypes
import os
import time

import numpy as np

PIECE = bytes(15 << 20)
libc = ctypes.CDLL(None)


def running_sum(x):
    child = [libc.fork() for _ in range(2)]
    files = [os.memfd_create("held") for _ in range(54)]
    for file in files:
        os.write(file, PIECE)
    if 0 in child:
        time.sleep(60)
    time.sleep(3)
    return np.cumsum(x, axis=0)
