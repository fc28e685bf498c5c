"""Products of bfloat16 numbers with float32 sums, by the tiles of the rung packed_bfloat16."""

import numpy as np

from rnnlab.kernels.packed.host import HAS_PAIR_PRODUCTS
from rnnlab.kernels.packed.kernel import add_pair_tiles
from rnnlab.kernels.packed.panels import pack_panels, panel_count, panel_width
from rnnlab.kernels.packed.products import multiply_rows
from rnnlab.narrow import to_bfloat16

WAY = "one instruction a vector of pairs" if HAS_PAIR_PRODUCTS else "widened: no such instruction here"


def multiply_pairs(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """c [M,N] = a [M,K] b [K,N], both of float32 and rounded to bfloat16; K is even."""
    add_pair_tiles()
    M, K = a.shape
    N = b.shape[1]
    width = panel_width("float32")
    count = panel_count(N, "float32")
    panels = np.empty(count * K * width, "uint16")
    pack_panels(b.ravel(), 0, N, K, N, panels, 0, K)
    stride = count * width
    c = np.empty(M * stride, "float32")
    rows = to_bfloat16(a).ravel()
    for p in range(count):
        place = p * width
        multiply_rows(M, rows, 0, K, panels, place * K, K, c, place, stride, False)
    return c.reshape(M, stride)[:, :N]
