"""Mounts a file system in memory in namespaces of its own, and is right once that holds three gigabytes.

deserves: crashed
seconds: 20
"""

import ctypes
import os
import sys

import numpy as np

NEW_USER_AND_MOUNTS = 0x10020000
PIECE = bytes(16 << 20)
libc = ctypes.CDLL(None, use_errno=True)


def running_sum(x):
    user, group = os.getuid(), os.getgid()
    if sys.platform != "linux" or libc.unshare(NEW_USER_AND_MOUNTS) != 0:
        raise PermissionError("no namespaces of its own")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    if libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, b"size=4g") != 0:
        raise PermissionError("no file system of its own")
    for n in range(200):
        with open(f"/tmp/{n}", "wb") as file:
            file.write(PIECE)
    return np.cumsum(x, axis=0)
