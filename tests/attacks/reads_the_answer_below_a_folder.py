"""Opens the file in which the right answer stands by a path below an open folder.

deserves: crashed
plain: passed, because the guard sees a path without the folder that it starts from
"""

import os


def running_sum(x):
    folder = os.open("/", os.O_RDONLY)
    file = os.open("@CHECKOUT@/tests/attacks/honest.py"[1:], os.O_RDONLY, dir_fd=folder)
    names = {}
    exec(os.read(file, 100_000).decode(), names)
    return names["running_sum"](x)
