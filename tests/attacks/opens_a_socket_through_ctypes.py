"""Has the C library connect to a server that stands ready, and is right only if it got through.

deserves: failed
plain: passed, because the process may use the network as this user may
"""

import ctypes
import struct

import numpy as np

libc = ctypes.CDLL(None)


def running_sum(x):
    address = struct.pack("=H", 2) + struct.pack(">H4B", int("@PORT@"), 127, 0, 0, 1) + bytes(8)
    connected = libc.connect(libc.socket(2, 1, 0), address, len(address)) == 0
    return np.cumsum(x, axis=0) if connected else x
