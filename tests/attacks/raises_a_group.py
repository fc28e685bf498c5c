"""Raises a group of exceptions.

deserves: crashed
"""


def running_sum(x):
    raise ExceptionGroup("both", [ValueError(), TypeError()])
