"""Is a number, not a function.

deserves: crashed
"""

running_sum = 3
