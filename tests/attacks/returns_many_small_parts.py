"""Returns a million separate numbers in a list.

deserves: too_big
"""


def running_sum(x):
    return [0.0] * 1_000_000
