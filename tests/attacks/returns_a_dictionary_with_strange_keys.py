"""Returns a dictionary whose key cannot be written as text.

deserves: failed
"""


def running_sum(x):
    return {"\ud800": x}
