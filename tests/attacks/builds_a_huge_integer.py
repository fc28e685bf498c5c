"""Computes a power with more digits than there are atoms.

deserves: timeout
"""


def running_sum(x):
    return 9**9**9
