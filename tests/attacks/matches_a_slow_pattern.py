"""Lets a regular expression backtrack without end.

deserves: timeout
"""

import re


def running_sum(x):
    re.match("(a+)+$", "a" * 60 + "b")
    return x * 0
