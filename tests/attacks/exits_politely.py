"""Leaves by sys.exit with the status of success.

deserves: crashed
"""

import sys


def running_sum(x):
    sys.exit(0)
