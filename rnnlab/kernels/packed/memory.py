"""Arrays that start with a cache line, and freed memory that stays with the process for the next pass.

NumPy's arrays start 16 or 32 bytes behind the start of a cache line, and every vector of 64 bytes then lies
in two lines: a step of 100×32, 128×256 took 9 to 18 % longer.

The system clears a page before it is first written, 2 µs for 4 KB on our Xeon: 1,140 pages of a plain RNN's
step of 100×64, 256×256 took 8 % of it.  GNU's C library gives large arrays back to the system as soon as they
are freed; after `keep_freed` it keeps up to KEPT bytes of them, for the whole process.
"""

import ctypes
import math
import os
import platform
from functools import cache

import numpy as np

LINE = 64  # bytes of a cache line, and of the longest vector
KEPT = 128 * 2**20  # bytes
LARGEST = 32 * 2**20  # bytes of an array that is kept: the library allows no more
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3  # of malloc.h
VARIABLES = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"  # of the environment: a user's own choice


def aligned(shape: int | tuple[int, ...], dtype: str | np.dtype) -> np.ndarray:
    """An array of this shape, of any numbers, whose first number starts a cache line."""
    if not shape:
        return np.empty(0, dtype)
    shape = shape if isinstance(shape, tuple) else (shape,)
    dtype = np.dtype(dtype)
    block = np.empty(math.prod(shape) * dtype.itemsize + LINE, "uint8")
    # block.ctypes.data takes three times as long, and a training step makes some 20 arrays
    return np.ndarray(shape, dtype, block, -ctypes.addressof(ctypes.c_char.from_buffer(block)) % LINE)


@cache
def keep_freed() -> bool:
    """Let the C library keep freed memory; False where it is another library, or its variables are set."""
    if platform.libc_ver()[0] != "glibc" or any(name in os.environ for name in VARIABLES):
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(M_MMAP_THRESHOLD, LARGEST) and mallopt(M_TRIM_THRESHOLD, KEPT))
