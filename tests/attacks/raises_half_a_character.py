"""Raises an exception whose text is half of a pair of code units.

deserves: crashed
"""


def running_sum(x):
    raise ValueError("\ud800")
