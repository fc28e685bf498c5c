"""Opens files until it gets no more.

deserves: crashed
"""


def running_sum(x):
    files = [open("/dev/null") for _ in range(1000)]
    return files
