"""Raises an exception whose text is shown backwards.

deserves: crashed
"""


def running_sum(x):
    raise ValueError("\u202edessap")
