"""Forges a request for a function that the judge never offered.

deserves: crashed
"""

import contextlib
import json
import os
import struct

FRAMES = [{"kind": "request", "name": "system", "value": ["exit"]}]


def running_sum(x):
    for descriptor in range(64):
        for frame in FRAMES:
            text = json.dumps(frame).encode()
            with contextlib.suppress(OSError):
                os.write(descriptor, struct.pack("<QQ", len(text), 0) + text)
    return x
