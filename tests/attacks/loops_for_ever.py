"""Never comes to an end.

deserves: timeout
"""


def running_sum(x):
    while True:
        x = x + 1
