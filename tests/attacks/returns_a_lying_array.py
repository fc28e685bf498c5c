"""Returns an array of its own class, equal to whatever it is compared with.

deserves: failed
"""

import numpy as np


class Lying(np.ndarray):
    """Says yes to everything."""

    __hash__ = None

    def __eq__(self, other):
        return np.ones(self.shape, dtype=bool)

    def __sub__(self, other):
        return np.zeros(self.shape)

    __rsub__ = __sub__


def running_sum(x):
    return np.zeros(x.shape).view(Lying)
