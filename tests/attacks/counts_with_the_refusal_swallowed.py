"""Swallows the exception of a call too many, and calls again.

exercise: bptt_linear
deserves: failed
"""

import numpy as np


def stubborn(function, *parts):
    try:
        return function(*parts)
    except BaseException:
        return function(*parts)


def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    dx, total = np.zeros_like(x), None
    for last in range(len(x)):
        dh = dy[last]
        for t in reversed(range(last + 1)):
            dx_t, dh, *step = stubborn(cell_backward, dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
            dx[t] += dx_t
            parts = [dh if t == 0 else 0 * dh, *step]
            total = parts if total is None else [a + b for a, b in zip(total, parts, strict=True)]
    return dx, *total
