"""Never comes to an end and ignores all that asks it to.

deserves: timeout
"""

import contextlib
import signal


def running_sum(x):
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    while True:
        x = x + 1
