"""Closes all open files of its process.

deserves: crashed
"""

import os


def running_sum(x):
    os.closerange(0, 64)
    return x * 0
