"""Tries to take back the refusal that was set before it ran.

deserves: forbidden
"""

import os
import sys


def running_sum(x):
    sys.addaudithook(lambda *event: None)
    os.system("true")
    return x * 0
