"""Has the C library stop its own process.

deserves: timeout
"""

import ctypes

libc = ctypes.CDLL(None)


def running_sum(x):
    libc.raise_(19) if hasattr(libc, "raise_") else getattr(libc, "raise")(19)
