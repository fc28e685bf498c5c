"""Raises an exception that is called like the judge's.

deserves: crashed
"""


class Wrong(Exception):
    pass


def running_sum(x):
    raise Wrong
