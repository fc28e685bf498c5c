"""Raises an exception with a megabyte of text.

deserves: crashed
"""


def running_sum(x):
    raise ValueError("x" * 1_000_000)
