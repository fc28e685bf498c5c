"""Writes an endless answer byte by byte, so that its judge is busy reading, and takes memory meanwhile.

deserves: memory
seconds: 20
"""

import ctypes
import os
import stat
import struct
import time

libc = ctypes.CDLL(None)


def pipes():
    for file in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(file).st_mode):
                yield file
        except OSError:
            continue


def running_sum(x):
    for file in pipes():
        libc.write(file, struct.pack("<QQ", 1 << 20, 0), 16)
    children = [libc.fork() for _ in range(3)]
    taken = b"x" * (400 << 20)
    while len(children) + len(taken):
        for file in pipes():
            libc.write(file, b" ", 1)
        time.sleep(0.01)
