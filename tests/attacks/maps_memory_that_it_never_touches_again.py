"""Is right, and writes three gigabytes into memfds that it maps, closes and never touches.

deserves: memory
seconds: 30
"""

import ctypes
import mmap
import os
import time

import numpy as np

PIECE = bytes(15 << 20)
libc = ctypes.CDLL(None)


def running_sum(x):
    child = [libc.fork() for _ in range(2)]
    state = []
    for _ in range(54):
        file = os.memfd_create("held")
        os.write(file, PIECE)
        state.append(mmap.mmap(file, len(PIECE)))
        os.close(file)
    if 0 in child:
        time.sleep(60)
    time.sleep(3)
    return np.cumsum(x, axis=0)
