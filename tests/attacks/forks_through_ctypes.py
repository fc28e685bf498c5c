"""Has the C library double the number of processes, ten times: 1024 spare a machine that lets it.

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
