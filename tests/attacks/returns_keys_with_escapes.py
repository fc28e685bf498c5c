"""Returns a dictionary whose keys move the cursor.

deserves: failed
"""


def running_sum(x):
    return {"\x1b[2A\x1b[Kpassed": x}
