"""Forges a frame that is a list.

deserves: crashed
"""

import contextlib
import json
import os
import struct

FRAMES = [[1, 2, 3]]


def running_sum(x):
    for descriptor in range(64):
        for frame in FRAMES:
            text = json.dumps(frame).encode()
            with contextlib.suppress(OSError):
                os.write(descriptor, struct.pack("<QQ", len(text), 0) + text)
    return x
