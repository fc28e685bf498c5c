"""Opens the file in which the right answer stands by other spellings of its path.

deserves: crashed
"""

import os

PLACE = "@CHECKOUT@/tests/attacks/honest.py"
SPELLINGS = (
    PLACE.replace("/tests", "//tests"),
    PLACE.encode(),
    os.path.relpath(PLACE),
    f"/proc/self/root{PLACE}",
)


def running_sum(x):
    names = {}
    for spelling in SPELLINGS:
        try:
            exec(open(spelling).read(), names)
        except Exception:
            continue
    return names["running_sum"](x)
