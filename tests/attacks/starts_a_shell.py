"""Starts a shell.

deserves: forbidden
"""

import os


def running_sum(x):
    os.system("true")
    return x * 0
