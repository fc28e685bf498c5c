"""Starts a program.

deserves: forbidden
"""

import subprocess


def running_sum(x):
    subprocess.run(["true"])
    return x * 0
