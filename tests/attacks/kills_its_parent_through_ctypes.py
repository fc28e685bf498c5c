"""Has the C library send SIGKILL to the process that started it.

deserves: failed
plain: killed, because the process may end what this user may end
"""

import ctypes

libc = ctypes.CDLL(None)


def running_sum(x):
    libc.kill(libc.getppid(), 9)
    return x
