"""Shares a hunger for memory among processes, each of which stays below the limit of one.

deserves: memory
seconds: 20
"""

import ctypes
import time

libc = ctypes.CDLL(None)


def running_sum(x):
    for _ in range(3):
        libc.fork()
    taken = b"x" * (400 << 20)
    time.sleep(60)
    return taken
