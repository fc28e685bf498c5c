"""Is right where there is a single step, and nowhere else.

deserves: failed
"""


def running_sum(x):
    return x.copy()
