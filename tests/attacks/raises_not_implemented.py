"""Raises the error by which an untouched stub is known.

deserves: not_attempted
"""


def running_sum(x):
    raise NotImplementedError
