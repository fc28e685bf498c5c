"""Is right, and lays three gigabytes into /dev/shm, which no process's own size shows.

deserves: memory
plain: passed, because files outside its folder are the machine's, and stay there
seconds: 30
"""

import os
import sys

import numpy as np

PIECE = bytes(16 << 20)
FOLDER = "/dev/shm" if os.getcwd() == "/tmp" else "."  # under bubblewrap; else nothing of a machine is filled


def running_sum(x):
    if sys.platform == "linux" and FOLDER != ".":
        for n in range(200):
            with open(f"{FOLDER}/{n}", "wb") as file:
                file.write(PIECE)
    return np.cumsum(x, axis=0)
