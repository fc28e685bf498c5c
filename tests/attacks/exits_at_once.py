"""Leaves by os._exit with the status of success: nothing is cleaned up, nothing is said.

deserves: crashed
"""

import os


def running_sum(x):
    os._exit(0)
