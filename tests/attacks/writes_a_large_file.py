"""Writes a file that is larger than it may be.

deserves: crashed
"""


def running_sum(x):
    with open(f"part-{id(x)}", "wb") as file:
        for _ in range(40):
            file.write(b"x" * (1 << 20))
    return x * 0
