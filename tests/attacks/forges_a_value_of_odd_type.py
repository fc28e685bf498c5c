"""Forges an answer whose value says that it is a program.

deserves: failed
"""

import contextlib
import json
import os
import struct

FRAMES = [{"kind": "returned", "value": ["program", "1", "x"]}]


def running_sum(x):
    for descriptor in range(64):
        for frame in FRAMES:
            text = json.dumps(frame).encode()
            with contextlib.suppress(OSError):
                os.write(descriptor, struct.pack("<QQ", len(text), 0) + text)
    return x
