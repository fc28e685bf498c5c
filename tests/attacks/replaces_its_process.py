"""Replaces its process by another program.

deserves: forbidden
"""

import os


def running_sum(x):
    os.execv("/bin/true", ["true"])
