"""Is a function that takes no argument.

deserves: crashed
"""


def running_sum():
    return 0
