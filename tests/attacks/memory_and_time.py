"""Answers that take memory or time without end."""

import numpy as np

# %% [attack] builds_a_huge_integer
# Computes a power with more digits than there are atoms.
# deserves: timeout
def running_sum(x):
    return 9**9**9

# %% [attack] fills_memory_without_a_name
# Is right, and lays three gigabytes into memfds in several processes, without ever mapping them.
# deserves: memory
# seconds: 30
import ctypes
import os
import time

PIECE = bytes(15 << 20)
libc = ctypes.CDLL(None)

def running_sum(x):
    child = [libc.fork() for _ in range(2)]
    files = [os.memfd_create("held") for _ in range(54)]
    for file in files:
        os.write(file, PIECE)
    if 0 in child:
        time.sleep(60)
    time.sleep(3)
    return np.cumsum(x, axis=0)

# %% [attack] fills_shared_memory
# Is right, and lays three gigabytes into /dev/shm, which no process's own size shows.
# deserves: memory
# seconds: 30
import os
import sys

PIECE = bytes(16 << 20)
FOLDER = "/dev/shm" if os.getcwd() == "/tmp" else "."  # under bubblewrap; else nothing of a machine is filled

def running_sum(x):
    if sys.platform == "linux" and FOLDER != ".":
        for n in range(200):
            with open(f"{FOLDER}/{n}", "wb") as file:
                file.write(PIECE)
    return np.cumsum(x, axis=0)

# %% [attack] keeps_its_judge_busy
# Writes an endless answer byte by byte, so that its judge is busy reading, and takes memory meanwhile.
# deserves: memory
# seconds: 20
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

# %% [attack] keeps_memory_of_no_process
# Asks for shared memory segments of System V, which stay when no process has them.
# deserves: crashed
import ctypes
import sys

libc = ctypes.CDLL(None)

def running_sum(x):
    segment = libc.shmget(0, ctypes.c_size_t(1 << 20), 0o1600)
    if segment < 0 or sys.platform != "linux":
        raise OSError("no segment")
    libc.shmctl(segment, 0, None)
    return np.cumsum(x, axis=0)

# %% [attack] loops_for_ever
# Never comes to an end.
# deserves: timeout
def running_sum(x):
    while True:
        x = x + 1

# %% [attack] loops_for_ever_and_ignores_signals
# Never comes to an end and ignores all that asks it to.
# deserves: timeout
import contextlib
import signal

def running_sum(x):
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    while True:
        x = x + 1

# %% [attack] loops_while_it_is_loaded
# Never comes to an end while its cell is loaded.
# deserves: timeout
while True:
    pass

# %% [attack] maps_memory_that_it_never_touches_again
# Is right, and writes three gigabytes into memfds that it maps, closes and never touches.
# deserves: memory
# seconds: 30
import ctypes
import mmap
import os
import time

PIECE = bytes(15 << 20)
libc = ctypes.CDLL(None)

def running_sum(x):
    child = [libc.fork() for _ in range(2)]
    state = []
    for _ in range(54):
        file = os.memfd_create("held")
        os.write(file, PIECE)
        state.append(mmap.mmap(file, len(PIECE)))
        os.close(file)
    if 0 in child:
        time.sleep(60)
    time.sleep(3)
    return np.cumsum(x, axis=0)

# %% [attack] matches_a_slow_pattern
# Lets a regular expression backtrack without end.
# deserves: timeout
import re

def running_sum(x):
    re.match("(a+)+$", "a" * 60 + "b")
    return x * 0

# %% [attack] mounts_memory_of_its_own
# Mounts a file system in memory in namespaces of its own, and is right once that holds three gigabytes.
# deserves: crashed
# seconds: 20
import ctypes
import os
import sys

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

# %% [attack] prints_a_gigabyte
# Is right, and prints a gigabyte.
# deserves: passed
MEGABYTE = "x" * (1 << 20)

def running_sum(x):
    for _ in range(1 << 10 if x.shape == (1, 1) else 0):
        print(MEGABYTE)
    return np.cumsum(x, axis=0)

# %% [attack] profiles_every_call
# Follows every call in its process.
import sys

def running_sum(x):
    sys.setprofile(lambda frame, event, argument: None)
    return x * 0

# %% [attack] sleeps_for_ever
# Waits without using the processor.
# deserves: timeout
import time

def running_sum(x):
    time.sleep(10_000)

# %% [attack] takes_all_memory
# Asks for a hundred gigabytes at once.
# deserves: memory
def running_sum(x):
    return np.ones(100 << 30, dtype="int8")

# %% [attack] takes_memory_bit_by_bit
# Takes megabytes until there are none.
# deserves: memory
def running_sum(x):
    taken = []
    while True:
        taken.append(np.empty(64 << 20, dtype="int8"))

# %% [attack] takes_memory_in_many_processes
# Shares a hunger for memory among processes, each of which stays below the limit of one.
# deserves: memory
# seconds: 20
import ctypes
import time

libc = ctypes.CDLL(None)

def running_sum(x):
    for _ in range(3):
        libc.fork()
    taken = b"x" * (400 << 20)
    time.sleep(60)
    return taken

# %% [attack] traces_every_line
# Follows every line that runs in its process, to change what is packed.
import sys

def change(frame, event, argument):
    if "result" in frame.f_locals:
        frame.f_locals["result"] = 0
    return change

def running_sum(x):
    sys.settrace(change)
    return x * 0

# %% [attack] keeps_messages_of_no_process
# Fills message queues, which stay when no process has them, and is right only if that worked.
import ctypes

libc = ctypes.CDLL(None)

def running_sum(x):
    queues = [libc.msgget(0, 0o1600) for _ in range(100)]
    return np.cumsum(x, axis=0) * (min(queues) >= 0)

# %% [attack] fills_pipes
# Keeps a gigabyte in pipes, which belong to no process.
# deserves: crashed
import fcntl
import os

def running_sum(x):
    filled = 0
    for _ in range(1200):
        ends = os.pipe()
        size = fcntl.fcntl(ends[1], 1031, 1 << 20)
        os.set_blocking(ends[1], False)
        filled += os.write(ends[1], bytes(size))
    return np.cumsum(x, axis=0) if filled >= 1 << 30 else x

# %% [attack] sends_itself_a_stop_later
# Has a timer of the kernel stop it while its answer is packed.
# deserves: timeout
import ctypes
import struct

libc = ctypes.CDLL(None, use_errno=True)

def running_sum(x):
    event = ctypes.create_string_buffer(struct.pack("qii48x", 0, 19, 0), 64)
    timer = ctypes.c_int()
    libc.syscall(222, 1, event, ctypes.byref(timer))
    libc.syscall(223, timer, 0, ctypes.create_string_buffer(struct.pack("qqqq", 0, 0, 0, 1_000)), 0)
    while True:
        pass
