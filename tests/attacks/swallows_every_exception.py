"""Catches every exception and goes on for ever.

deserves: timeout
"""


def running_sum(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
