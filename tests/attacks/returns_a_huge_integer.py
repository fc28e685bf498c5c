"""Returns an integer of a million bits.

deserves: too_big
"""


def running_sum(x):
    return 1 << 1_000_000
