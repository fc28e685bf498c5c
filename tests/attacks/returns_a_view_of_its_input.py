"""Returns its input, unchanged.

deserves: failed
"""


def running_sum(x):
    return x
