"""Sets its input to zero, of which zero is the right sum.

deserves: failed
"""


def running_sum(x):
    x[:] = 0
    return x
