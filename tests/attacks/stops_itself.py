"""Stops its own process, so that it never ends.

deserves: forbidden
"""

import os
import signal


def running_sum(x):
    os.kill(os.getpid(), signal.SIGSTOP)
