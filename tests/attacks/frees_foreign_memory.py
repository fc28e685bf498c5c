"""Hands an address that it does not own to the C library's free.

deserves: crashed
"""

import ctypes

libc = ctypes.CDLL(None)


def running_sum(x):
    libc.free(ctypes.c_void_p(1234567))
    return x * 0
