"""Has the C library overwrite a file outside its folder, and is right only if that worked.

deserves: failed
plain: passed, because the process may write what this user may write
"""

import ctypes

import numpy as np

libc = ctypes.CDLL(None)


def running_sum(x):
    file = libc.open(b"@HOME@/notes.txt", 1)
    written = libc.write(file, b"gone ", 5)
    return np.cumsum(x, axis=0) if written == 5 else x
