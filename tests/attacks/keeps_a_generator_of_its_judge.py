"""Keeps its first input, and writes into it when it is called again.

deserves: failed
"""

kept = []


def running_sum(x):
    kept.append(x)
    kept[0][...] = 0
    return kept[0]
