"""Calls itself without end.

deserves: crashed
"""


def running_sum(x):
    return running_sum(x)
