"""Pretends that somebody pressed Ctrl-C.

deserves: crashed
"""


def running_sum(x):
    raise KeyboardInterrupt
