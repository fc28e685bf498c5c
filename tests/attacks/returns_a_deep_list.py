"""Returns lists nested ten thousand deep.

deserves: too_big
"""


def running_sum(x):
    result = x
    for _ in range(10_000):
        result = [result]
    return result
