"""Writes down the columns by atomics, whose sectors no limit counts.

exercise: transpose_coalesced
deserves: failed
"""

from rnnlab import cuda


@cuda.jit
def transpose_coalesced(x, y):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        cuda.atomic.exch(y, (column, row), x[row, column])
