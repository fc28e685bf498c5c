"""Starts processes to compute in.

deserves: forbidden
"""

import multiprocessing


def running_sum(x):
    with multiprocessing.Pool(2) as pool:
        return pool.map(sum, x)
