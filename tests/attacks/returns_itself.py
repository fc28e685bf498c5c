"""Returns a list that holds itself.

deserves: too_big
"""


def running_sum(x):
    result = []
    result.append(result)
    return result
