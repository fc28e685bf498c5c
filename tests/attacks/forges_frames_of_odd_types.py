"""Forges frames: a message that is a list, an unknown kind, a request nobody may make, no kind at all.

deserves: crashed
"""

import contextlib
import json
import os
import struct

FRAMES = (
    {"kind": "wrong", "said": [5], "value": None},
    {"kind": "passed", "value": None},
    {"kind": "request", "name": "system", "value": ["exit"]},
    [1, 2, 3],
)


def running_sum(x):
    for descriptor in range(64):
        for frame in FRAMES:
            text = json.dumps(frame).encode()
            with contextlib.suppress(OSError):
                os.write(descriptor, struct.pack("<QQ", len(text), 0) + text)
    return x
