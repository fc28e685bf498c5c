"""Products of any size out of tiles: rows in equal shares, edges through a spare tile, sums in blocks of K.

All arrays are flat, with the first number (`at`) and the distance between two rows (`row`) beside them.
"""

from numba import njit

from rnnlab.kernels.packed.host import ROWS, VECTORS
from rnnlab.kernels.packed.kernel import multiply_tile
from rnnlab.kernels.packed.panels import OPTIONS, pack_panels, pack_strips, strip_start
from rnnlab.kernels.packed.vectors import lanes

K_BLOCK = 256  # steps of a panel that all rows take before the next: 32 KB, which stay in the first cache
M_BLOCK = 440  # rows of a transposed operand that are packed at once


@njit(**OPTIONS)
def _matrix_tile(rows, a, a_at, a_row, b, b_at, K, c, c_at, c_row, is_sum):
    multiply_tile(False, rows, a, a_at, a_row, b, b_at, K, c, c_at, c_row, is_sum)


@njit(**OPTIONS)
def _strip_tile(rows, a, a_at, b, b_at, K, c, c_at, c_row, is_sum):
    multiply_tile(True, rows, a, a_at, 1, b, b_at, K, c, c_at, c_row, is_sum)


@njit(**OPTIONS)
def multiply_rows(rows, a, a_at, a_row, b, b_at, K, c, c_at, c_row, is_sum):
    """c [rows,width] = a [rows,K] b [K,width], plus c where `is_sum`, for any number of rows, one panel.

    A block of K_BLOCK steps of the panel serves all rows before the next block is read.
    """
    width = VECTORS * lanes(c)
    for k in range(0, max(K, 1), K_BLOCK):  # once for K = 0, which clears c
        tiles, r = (rows + ROWS - 1) // ROWS, 0
        for left in range(tiles, 0, -1):
            count = (rows - r + left - 1) // left
            a_tile, c_tile, steps = a_at + r * a_row + k, c_at + r * c_row, min(K_BLOCK, K - k)
            _matrix_tile(
                count, a, a_tile, a_row, b, b_at + k * width, steps, c, c_tile, c_row, is_sum or k > 0
            )
            r += count


@njit(**OPTIONS)
def multiply_unpacked(rows, a, a_at, a_row, K, b, b_at, b_row, N, c, c_at, c_row, is_sum, block, spare):
    """c [rows,N] = a [rows,K] b [K,N], plus c where `is_sum`; b is packed on the way, block by block.

    block has room for K_BLOCK steps of some panels, which are packed at once; spare for a tile.
    """
    at_once = block.size // K_BLOCK
    for n in range(0, N, at_once):
        columns = min(N - n, at_once)
        for k in range(0, max(K, 1), K_BLOCK):
            steps = min(K_BLOCK, K - k)
            pack_panels(b, b_at + k * b_row + n, b_row, steps, columns, block, 0)
            _multiply_block(
                False,
                rows,
                a,
                a_at + k,
                a_row,
                block,
                steps,
                columns,
                c,
                c_at + n,
                c_row,
                is_sum or k > 0,
                spare,
            )


@njit(**OPTIONS)
def multiply_transposed(
    M, a, a_at, a_row, K, b, b_at, b_row, N, c, c_at, c_row, is_sum, strips, block, spare
):
    """c [M,N] = transposed a [K,M] times b [K,N], plus c where `is_sum`: a sum over steps and sequences.

    Both are packed on the way.  strips has room for strip_room(K_BLOCK, M_BLOCK) numbers, block for K_BLOCK
    steps of some panels, spare for a tile.
    """
    at_once = block.size // K_BLOCK
    for k in range(0, max(K, 1), K_BLOCK):
        steps = min(K_BLOCK, K - k)
        for n in range(0, N, at_once):
            columns = min(N - n, at_once)
            pack_panels(b, b_at + k * b_row + n, b_row, steps, columns, block, 0)
            for m in range(0, M, M_BLOCK):
                rows = min(M_BLOCK, M - m)
                pack_strips(a, a_at + k * a_row + m, a_row, steps, rows, strips)
                place = c_at + m * c_row + n
                _multiply_block(
                    True, rows, strips, 0, 1, block, steps, columns, c, place, c_row, is_sum or k > 0, spare
                )


@njit(**OPTIONS)
def _multiply_block(is_strip, rows, a, a_at, a_row, block, K, columns, c, c_at, c_row, is_sum, spare):
    """c [rows,columns] from packed panels: tile after tile along the rows of c, which lie together."""
    count, width = (rows + ROWS - 1) // ROWS, VECTORS * lanes(c)
    for s in range(count):
        low, high = rows * s // count, rows * (s + 1) // count
        source = strip_start(s, K) if is_strip else a_at + low * a_row
        for j in range(0, columns, width):
            whole = j + width <= columns
            place = c_at + low * c_row + j
            c_tile, c_tile_at, c_tile_row = (c, place, c_row) if whole else (spare, 0, width)
            if is_strip:
                _strip_tile(
                    high - low, a, source, block, j * K, K, c_tile, c_tile_at, c_tile_row, is_sum and whole
                )
            else:
                _matrix_tile(
                    high - low,
                    a,
                    source,
                    a_row,
                    block,
                    j * K,
                    K,
                    c_tile,
                    c_tile_at,
                    c_tile_row,
                    is_sum and whole,
                )
            if not whole:
                _take_columns(high - low, columns - j, spare, width, c, place, c_row, is_sum)


@njit(**OPTIONS)
def _take_columns(rows, columns, tile, width, c, c_at, c_row, is_sum):
    """c [rows,columns] = the first columns of a tile, plus c where `is_sum`."""
    for r in range(rows):
        for j in range(columns):
            place = c_at + r * c_row + j
            c[place] = c[place] + tile[r * width + j] if is_sum else tile[r * width + j]
