"""Returns itself.

deserves: failed
"""


def running_sum(x):
    return running_sum
