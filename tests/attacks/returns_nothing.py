"""Returns nothing, which the check of this exercise does not expect and breaks on.

deserves: failed
"""


def running_sum(x):
    return None
