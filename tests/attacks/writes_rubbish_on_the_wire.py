"""Writes bytes that are no frame to every open file descriptor.

deserves: too_big
"""

import os


def running_sum(x):
    for number in range(3, 64):
        try:
            os.write(number, b"\xff" * 100)
        except OSError:
            continue
    return x * 0
