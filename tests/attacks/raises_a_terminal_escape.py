"""Raises an exception that would erase the verdict on a terminal and write its own.

deserves: crashed
"""


def running_sum(x):
    raise ValueError("\x1b[1A\x1b[2K\u2714 passed")
