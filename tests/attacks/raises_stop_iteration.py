"""Raises StopIteration, which would end a loop of the judge's.

deserves: crashed
"""


def running_sum(x):
    raise StopIteration
