"""Packing: a matrix copied into panels, in the order in which the kernel will read it.

A panel holds `width` neighbouring columns of a matrix [K,N], row after row: [K,width], without gaps.  The
kernel then reads one stream of memory, whatever the strides of the matrix were.  Columns past the last are 0.
Source and panels are flat arrays; `at` and `row` are the first number and the distance between two rows.
A packed matrix is [panels,K,width].

Panels of bfloat16 numbers (uint16) are multiplied by pairs: [K/2,width,2], rows k and k+1 of a column side by
side, strips likewise.  Number (k, 0) of a panel lies where it does otherwise, for an even k; K is even.
"""

import numpy as np
from numba import njit

from rnnlab.kernels.packed.host import ROWS, VECTOR_BYTES, VECTORS
from rnnlab.kernels.packed.vectors import depth, lanes, load, number, prefetch, put, spread, store_step

OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
# Functions that only compiled code calls: without a way in from Python all compiles in 13 s, not in 16
INNER = OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
ROWS_AHEAD = 4  # rows of the source that are requested before they are read
STRETCH = (
    64  # steps of a strip that are copied before the next strip's: they lie in the same lines of the source
)


def panel_width(dtype: str | np.dtype) -> int:
    """Columns of a panel, for float32, float64 or bfloat16 (uint16), whose sums are float32."""
    itemsize = np.dtype(dtype).itemsize
    return VECTORS * VECTOR_BYTES // max(itemsize, 4)


def panel_count(columns: int, dtype: str | np.dtype) -> int:
    """Number of panels that cover so many columns."""
    return -(-columns // panel_width(dtype))


@njit(**INNER)
def width_of(array):
    """Units of a panel of numbers as an array has them; a constant in compiled code, so strides are, too."""
    return VECTORS * lanes(array)


@njit(**OPTIONS)
def pack_panels(source, at, row, K, columns, panels, first, steps):
    """panels[first:] [⌈columns/width⌉,steps,width], K rows of each, = source [K,columns].

    Row after row of the source, so that it is read as one stream too.  Members that pack a part of the rows
    each have a `first` of their own.
    """
    vector = lanes(panels)
    width = VECTORS * vector
    deep = depth(panels)
    whole = columns - columns % width
    for k in range(0, K, deep):
        begin = at + k * row
        for j in range(0, whole, width):
            place = first + j * steps + k * width
            for v in range(0, width, vector):
                column = begin + j + v
                prefetch(source, column + ROWS_AHEAD * row)
                store_step(panels, place + deep * v, source, column, row)
        if whole < columns:
            place = first + whole * steps + k * width
            for i in range(deep * width):
                j = whole + i // deep
                step = i % deep
                put(panels, place + i, number(source, begin + step * row + j) if j < columns else 0)


@njit(**OPTIONS)
def pack_transposed(source, at, row, K, columns, panels, first):
    """panels[first:] [⌈columns/width⌉,K,width] = transposed source [columns,K].

    A cache line of each row at a time; the rows' next lines but one are on their way meanwhile.
    """
    vector = lanes(panels)
    width = VECTORS * vector
    deep = depth(panels)
    for begin in range(0, columns, width):
        used = min(width, columns - begin)
        panel = first + begin * K
        for k in range(0, K, vector):
            place = panel + k * width
            steps = min(vector, K - k)
            for j in range(used):
                column = place + deep * j
                line = at + (begin + j) * row + k
                prefetch(source, line + 2 * vector)
                _spread_line(source, line, steps, panels, column, width)
            for j in range(used, width):
                column = place + deep * j
                _clear_column(steps, panels, column, width)


@njit(**INNER)
def _spread_line(source, at, steps, panels, first, width):
    """Numbers that lie together, at most a vector of them, into one column of a panel."""
    if steps == lanes(panels):
        spread(panels, first, width, load(source, at))
    else:
        for i in range(steps):
            place = first + _step_place(panels, i, width)
            put(panels, place, number(source, at + i))


@njit(**INNER)
def _clear_column(steps, panels, first, width):
    for i in range(steps):
        place = first + _step_place(panels, i, width)
        panels[place] = 0


@njit(**INNER)
def _step_place(panels, k, width):
    """Where step k of a column lies, from its first step on."""
    other = k % depth(panels)
    return (k - other) * width + other


def strip_room(K: int, rows: int) -> int:
    """Numbers that `rows` rows of K steps take in strips; a strip ends with room for a vector too many."""
    strips = -(-rows // ROWS)
    return strips * (ROWS * K + VECTOR_BYTES)


@njit(**OPTIONS)
def strip_start(s, K):
    """The first number of strip s."""
    return s * (ROWS * K + VECTOR_BYTES)


@njit(**OPTIONS)
def pack_strips(a, a_at, a_row, K, rows, strips):
    """Columns of a [K,rows] in ⌈rows/ROWS⌉ strips [K,≤ROWS] of equal width, step after step.

    A vector is stored where fewer numbers are wanted; what is too much is overwritten by the next step.
    """
    count = (rows + ROWS - 1) // ROWS
    vector = lanes(strips)
    for start in range(0, K, STRETCH):
        steps = min(STRETCH, K - start)
        for s in range(count):
            low = rows * s // count
            high = rows * (s + 1) // count
            columns = high - low
            vectors = (columns + vector - 1) // vector
            reach = vectors * vector
            if low + reach > rows:
                reach = 0
            source = a_at + start * a_row + low
            place = strip_start(s, K) + start * columns
            _copy_strip(steps, a, source, a_row, columns, reach, strips, place)


@njit(**INNER)
def _copy_strip(K, a, at, row, columns, reach, strips, first):
    """strips[first:] [K,columns] = a [K,columns], in whole vectors where a has `reach` numbers to read."""
    deep = depth(strips)
    vector = lanes(strips)
    numbers = 0 if reach else deep * columns  # of a step that are copied one by one
    for k in range(0, K, deep):
        place = first + k * columns
        source = at + k * row
        for v in range(0, reach, vector):
            store_step(strips, place + deep * v, a, source + v, row)
        for i in range(numbers):
            step = i % deep
            put(strips, place + i, number(a, source + step * row + i // deep))
