"""Is a generator: nothing runs when it is called.

deserves: failed
"""


def running_sum(x):
    yield x
