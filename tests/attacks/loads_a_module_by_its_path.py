"""Loads the reference by the path of its file.

deserves: forbidden
"""

import importlib.util

spec = importlib.util.spec_from_file_location("reference", "@CHECKOUT@/rnnlab/reference.py")
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)


def running_sum(x):
    return x * 0
