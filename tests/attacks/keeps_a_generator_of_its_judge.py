"""Keeps its first input, and writes into it when it is called again.

deserves: failed
"""

stored = []


def running_sum(x):
    stored.append(x)
    stored[0][...] = 0
    return stored[0]
