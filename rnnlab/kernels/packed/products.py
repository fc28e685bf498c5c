"""Products of any size out of tiles: rows in equal shares, edges through a spare tile, sums in blocks of K.

All arrays are flat, with the first number (`at`) and the distance between two rows (`row`) beside them.
"""

from numba import njit
from numba.extending import register_jitable

from rnnlab.kernels.packed.host import ROWS, VECTORS
from rnnlab.kernels.packed.kernel import multiply_tile
from rnnlab.kernels.packed.panels import INNER, OPTIONS, pack_panels, strip_room, strip_start
from rnnlab.kernels.packed.vectors import lanes

K_BLOCK = 256  # steps of a panel that all rows take before the next: 32 KB, which stay in the first cache
STRIP_STEPS = 512  # steps of strips: a strip's 22 KB stay in the first cache while panels pass by
STRIP_NUMBERS = 112_640  # in strips at once, 0.45 MB: a part of the second cache
STRIP_COLUMNS = 440  # of a transposed operand that are packed into strips at once, at most
PANELS_AT_ONCE = 8  # whose blocks serve all rows before the next ones: 256 KB, a part of the second cache


@register_jitable(error_model="numpy")
def strip_columns(steps):
    """Columns of a transposed operand that are packed at once into strips of K = steps."""
    return min(STRIP_COLUMNS, STRIP_NUMBERS // steps)


STRIP_ROOM = max(strip_room(steps, strip_columns(steps)) for steps in range(1, STRIP_STEPS + 1))


@njit(**OPTIONS)
def multiply_rows(rows, a, a_at, a_row, b, b_at, K, c, c_at, c_row, is_sum):
    """c [rows,width] = a [rows,K] b [K,width], plus c where `is_sum`, for any number of rows, one panel.

    A block of K_BLOCK steps of the panel serves all rows before the next block is read.
    """
    width = VECTORS * lanes(c)
    for k in range(0, max(K, 1), K_BLOCK):  # once for K = 0, which clears c
        steps = min(K_BLOCK, K - k)
        panel = b_at + k * width
        adds = is_sum or k > 0
        multiply_block(False, rows, a, a_at + k, a_row, b, panel, 0, steps, width, c, c_at, c_row, adds, c)


@njit(**OPTIONS)
def multiply_unpacked(rows, a, a_at, a_row, K, b, b_at, b_row, N, c, c_at, c_row, is_sum, block, spare):
    """c [rows,N] = a [rows,K] b [K,N], plus c where `is_sum`; b is packed on the way, block by block.

    block has room for K_BLOCK steps of some panels, which are packed at once; spare for a tile.
    """
    width = VECTORS * lanes(c)
    at_once = block.size // (K_BLOCK * width) * width
    for k in range(0, max(K, 1), K_BLOCK):
        steps = min(K_BLOCK, K - k)
        adds = is_sum or k > 0
        for n in range(0, N, at_once):
            columns = min(N - n, at_once)
            source = b_at + k * b_row + n
            pack_panels(b, source, b_row, steps, columns, block, 0, steps)
            multiply_block(
                False, rows, a, a_at + k, a_row, block, 0, steps * width, steps, columns,
                c, c_at + n, c_row, adds, spare,
            )  # fmt: skip


@njit(**OPTIONS)
def multiply_strips(rows, strips, K, b, b_at, b_panel, N, c, c_at, c_row, is_sum, spare):
    """c [rows,N] = the transposed operand in strips, times packed b, plus c where `is_sum`.

    Panels of b are `b_panel` numbers apart, of which the first K steps count; spare has room for a tile.
    """
    width = VECTORS * lanes(c)
    at_once = PANELS_AT_ONCE * width
    for n in range(0, N, at_once):
        columns = min(N - n, at_once)
        panel = b_at + n // width * b_panel
        place = c_at + n
        multiply_block(
            True, rows, strips, 0, 1, b, panel, b_panel, K, columns, c, place, c_row, is_sum, spare
        )


@njit(**OPTIONS)
def multiply_block(
    is_strip, rows, a, a_at, a_row, b, b_at, b_panel, K, columns, c, c_at, c_row, is_sum, spare
):
    """c [rows,columns] from packed panels, tile after tile along the rows of c, which lie together.

    A strip, or a tile's rows of a, stay in the first cache; panels pass by from the second.
    """
    tiles = (rows + ROWS - 1) // ROWS
    width = VECTORS * lanes(c)
    for s in range(tiles):
        low = rows * s // tiles
        high = rows * (s + 1) // tiles
        count = high - low
        for j in range(0, columns, width):
            place = c_at + low * c_row + j
            panel = b_at + j // width * b_panel
            whole = j + width <= columns
            adds = is_sum and whole
            tile, at, row = (c, place, c_row) if whole else (spare, 0, width)
            if is_strip:
                first = a_at + strip_start(s, K)
                multiply_tile(True, count, a, first, 1, b, panel, K, tile, at, row, adds)
            else:
                first = a_at + low * a_row
                multiply_tile(False, count, a, first, a_row, b, panel, K, tile, at, row, adds)
            if not whole:
                _take_columns(count, columns - j, spare, width, c, place, c_row, is_sum)


@njit(**INNER)
def _take_columns(rows, columns, tile, width, c, c_at, c_row, is_sum):
    """c [rows,columns] = the first columns of a tile, plus c where `is_sum`."""
    for r in range(rows):
        for j in range(columns):
            place = c_at + r * c_row + j
            total = tile[r * width + j]
            c[place] = c[place] + total if is_sum else total
