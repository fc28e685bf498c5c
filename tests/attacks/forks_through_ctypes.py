"""Has the C library double the number of processes, again and again; 1024 in all, to spare a machine that
lets it.

deserves: forbidden
"""

import ctypes
import time

libc = ctypes.CDLL(None)


def running_sum(x):
    for _ in range(10):
        libc.fork()
        time.sleep(0.02)
    time.sleep(60)
