"""Runs code when its objects are collected.

deserves: crashed
"""

import os


class Late:
    def __del__(self):
        os._exit(0)


def running_sum(x):
    late = Late()
    del late
    return x * 0
