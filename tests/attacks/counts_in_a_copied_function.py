"""Calls a copy of the function that counts, with a closure of its own.

exercise: bptt_linear
deserves: failed
"""

import types

import numpy as np


def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    cells = tuple(types.CellType(cell.cell_contents) for cell in cell_backward.__closure__)
    copy = types.FunctionType(cell_backward.__code__, cell_backward.__globals__, closure=cells)
    dx, total = np.zeros_like(x), None
    for last in range(len(x)):
        dh = dy[last]
        for t in reversed(range(last + 1)):
            dx_t, dh, *step = copy(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
            dx[t] += dx_t
            parts = [dh if t == 0 else 0 * dh, *step]
            total = parts if total is None else [a + b for a, b in zip(total, parts, strict=True)]
    return dx, *total
