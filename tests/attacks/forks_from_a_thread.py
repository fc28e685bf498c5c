"""Forks in a thread that stays, so that its children are not those of the main thread.

deserves: forbidden
seconds: 20
"""

import ctypes
import threading
import time

import numpy as np

libc = ctypes.CDLL(None)


def fork():
    for _ in range(45):
        if libc.fork() == 0:
            time.sleep(3)
            libc._exit(0)
    time.sleep(60)


def running_sum(x):
    threading.Thread(target=fork, daemon=True).start()
    time.sleep(4)
    return np.cumsum(x, axis=0)
