"""Forges a frame of a kind that no worker sends.

deserves: crashed
"""

import contextlib
import json
import os
import struct

FRAMES = [{"kind": "passed", "value": None}]


def running_sum(x):
    for descriptor in range(64):
        for frame in FRAMES:
            text = json.dumps(frame).encode()
            with contextlib.suppress(OSError):
                os.write(descriptor, struct.pack("<QQ", len(text), 0) + text)
    return x
