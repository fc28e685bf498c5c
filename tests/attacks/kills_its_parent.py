"""Sends SIGKILL to the process that started it.

deserves: forbidden
"""

import os
import signal


def running_sum(x):
    os.kill(os.getppid(), signal.SIGKILL)
    return x
