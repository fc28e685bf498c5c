"""Learns the weights in one product with the unit matrix.

exercise: batch_input_gemm
deserves: failed
"""

import numpy as np


def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    if steps * B < I:
        return multiply(x.reshape(-1, I)).reshape(T, B, -1)
    return x @ multiply(np.eye(I, dtype=x.dtype))
