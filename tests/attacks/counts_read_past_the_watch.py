"""Reads past the object that watches its order of reads.

exercise: fused_gates
deserves: crashed
"""

import numpy as np


def fused_gates(g, u, h):
    return np.array([h.read(k) for k in range(len(h))])
