"""Ends its process by abort.

deserves: crashed
"""

import os


def running_sum(x):
    os.abort()
