"""Packing: a matrix copied into panels, in the order in which the kernel will read it.

A panel holds `width` neighbouring columns of a matrix [K,N], row after row: [K,width], without gaps.  The
kernel then reads one stream of memory, whatever the strides of the matrix were.  Columns past the last are 0.
Source and panels are flat arrays; `at` and `row` are the first number and the distance between two rows.
A packed matrix is [panels,K,width].
"""

import numpy as np
from numba import njit

from rnnlab.kernels.packed.host import ROWS, VECTOR_BYTES, VECTORS
from rnnlab.kernels.packed.vectors import lanes, load, store

OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
STRETCH = 64  # rows of a panel that are copied before the next panel's: 8 KB, within the first cache


def panel_width(dtype: str | np.dtype) -> int:
    """Columns of a panel, for float32 or float64."""
    return VECTORS * VECTOR_BYTES // np.dtype(dtype).itemsize


def panel_count(columns: int, dtype: str | np.dtype) -> int:
    """Number of panels that cover so many columns."""
    return -(-columns // panel_width(dtype))


@njit(**OPTIONS)
def pack_panels(source, at, row, K, columns, panels, first):
    """panels[first:] [⌈columns/width⌉,K,width] = source [K,columns].

    Row after row of the source, so that it is read as one stream too.
    """
    vector = lanes(panels)
    width = VECTORS * vector
    whole = columns - columns % width
    for k in range(K):
        begin = at + k * row
        for j in range(0, whole, width):
            place = first + j * K + k * width
            for v in range(0, width, vector):
                store(panels, place + v, load(source, begin + j + v))
        if whole < columns:
            place = first + whole * K + k * width
            for j in range(width):
                panels[place + j] = source[begin + whole + j] if whole + j < columns else 0


@njit(**OPTIONS)
def pack_transposed(source, at, row, K, columns, panels, first):
    """panels[first:] [⌈columns/width⌉,K,width] = transposed source [columns,K]."""
    width = VECTORS * lanes(panels)
    for begin in range(0, columns, width):
        place, used = first + begin * K, min(width, columns - begin)
        for start in range(0, K, STRETCH):
            rows = min(STRETCH, K - start)
            _transpose(
                source, at + begin * row + start, row, rows, used, panels, place + start * width, width
            )


@njit(**OPTIONS)
def _transpose(source, at, row, K, columns, panel, first, width):
    """panel[first:] [K,width] = transposed source [columns,K], with zeros behind."""
    for j in range(columns):
        for k in range(K):
            panel[first + k * width + j] = source[at + j * row + k]
    for j in range(columns, width):
        for k in range(K):
            panel[first + k * width + j] = 0


def strip_room(K: int, rows: int) -> int:
    """Numbers that `rows` rows of K steps take in strips; a strip ends with room for a vector too many."""
    return -(-rows // ROWS) * (ROWS * K + VECTOR_BYTES)


@njit(**OPTIONS)
def strip_start(s, K):
    """The first number of strip s."""
    return s * (ROWS * K + VECTOR_BYTES)


@njit(**OPTIONS)
def pack_strips(a, a_at, a_row, K, rows, strips):
    """Columns of a [K,rows] in ⌈rows/ROWS⌉ strips [K,≤ROWS] of equal width, step after step.

    A vector is stored where fewer numbers are wanted; what is too much is overwritten by the next step.
    """
    count, vector = (rows + ROWS - 1) // ROWS, lanes(strips)
    for start in range(0, K, STRETCH):
        steps = min(STRETCH, K - start)
        for s in range(count):
            low, high = rows * s // count, rows * (s + 1) // count
            columns = high - low
            reach = (columns + vector - 1) // vector * vector
            source, place = a_at + start * a_row + low, strip_start(s, K) + start * columns
            _copy_strip(steps, a, source, a_row, columns, reach if low + reach <= rows else 0, strips, place)


@njit(**OPTIONS)
def _copy_strip(K, a, at, row, columns, reach, strips, first):
    """strips[first:] [K,columns] = a [K,columns], in whole vectors where a has `reach` numbers to read."""
    for k in range(K):
        for v in range(0, reach, lanes(strips)):
            store(strips, first + k * columns + v, load(a, at + k * row + v))
        for r in range(0 if reach else columns):
            strips[first + k * columns + r] = a[at + k * row + r]
