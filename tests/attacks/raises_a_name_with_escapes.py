"""Raises an exception whose class name moves the cursor.

deserves: crashed
"""


def running_sum(x):
    raise type("\x1b[2J", (Exception,), {})
