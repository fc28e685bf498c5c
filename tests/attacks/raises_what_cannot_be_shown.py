"""Raises an exception whose text is an exception.

deserves: crashed
"""


class Silent(Exception):
    def __str__(self):
        raise ValueError


def running_sum(x):
    raise Silent
