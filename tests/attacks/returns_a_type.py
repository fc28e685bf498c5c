"""Returns a class instead of numbers.

deserves: failed
"""


def running_sum(x):
    return type(x)
