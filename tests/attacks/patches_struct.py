"""Replaces the lengths of the frames that it sends.

deserves: failed
"""

import struct

struct.pack = lambda *parts: b""


def running_sum(x):
    return x * 0
