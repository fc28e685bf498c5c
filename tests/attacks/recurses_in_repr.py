"""Calls itself while its exception is shown.

deserves: crashed
"""


class Deep(Exception):
    def __str__(self):
        return str(self)


def running_sum(x):
    raise Deep
