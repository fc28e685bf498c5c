"""Calls itself without end, after it has removed Python's own limit.

deserves: crashed
"""

import sys

sys.setrecursionlimit(2**31 - 1)


def running_sum(x):
    return max([x], key=running_sum)
