"""Lists the folder of the course.

deserves: forbidden
"""

import os


def running_sum(x):
    os.listdir("@CHECKOUT@/rnnlab")
    return x * 0
