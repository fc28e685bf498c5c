"""Returns a list whose elements change each time they are read.

deserves: failed
"""


class Rows(list):
    def __getitem__(self, index):
        return list.__getitem__(self, 0)


def running_sum(x):
    return Rows(x * 0)
