"""Has the C library read the file in which the right answer stands: no Python function is called.

deserves: crashed
plain: passed, because the process may read what this user may read
"""

import ctypes

libc = ctypes.CDLL(None)


def running_sum(x):
    buffer = ctypes.create_string_buffer(100_000)
    libc.read(libc.open(b"@CHECKOUT@/tests/attacks/honest.py", 0), buffer, 100_000)
    names = {}
    exec(buffer.value.decode(), names)
    return names["running_sum"](x)
