"""Announces an answer of an exabyte, for the judge to make room for.

deserves: too_big
"""

import contextlib
import os
import struct


def running_sum(x):
    for descriptor in range(64):
        with contextlib.suppress(OSError):
            os.write(descriptor, struct.pack("<QQ", 10, 1 << 60))
    return x
