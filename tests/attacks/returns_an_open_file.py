"""Returns an open file.

deserves: failed
"""


def running_sum(x):
    return open("/dev/null")
