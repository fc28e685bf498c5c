"""Answers that use rights, devices and parts of the system that no answer needs; each is right only if that worked."""

import numpy as np

# %% [attack] uses_the_rights_of_root
# Renames the machine to its own name, changes its root to the same, and makes a device; without bubblewrap, root may.
import ctypes
import os
import socket

libc = ctypes.CDLL(None)
CHARACTER_DEVICE = 0o020600

def running_sum(x):
    name = socket.gethostname().encode()
    worked = [libc.sethostname(name, len(name)) == 0, libc.chroot(b"/") == 0]
    worked += [libc.mknod(b"null", CHARACTER_DEVICE, os.makedev(1, 3)) == 0, libc.setgroups(0, None) == 0]
    is_root_anyway = os.getuid() == 0 and os.getcwd() != "/tmp"
    return np.cumsum(x, axis=0) if any(worked) and not is_root_anyway else x

# %% [attack] asks_for_real_time
# Asks for a place before all other processes of the machine.
import ctypes

libc = ctypes.CDLL(None)
FIRST_IN_FIRST_OUT = 1

def running_sum(x):
    worked = libc.sched_setscheduler(0, FIRST_IN_FIRST_OUT, ctypes.byref(ctypes.c_int(1))) == 0
    libc.sched_setscheduler(0, 0, ctypes.byref(ctypes.c_int(0)))
    return np.cumsum(x, axis=0) if worked else x

# %% [attack] changes_the_priority_of_others
# Sets the priority of a process that is neither itself nor its parent, to the value that it has.
import ctypes
import os

libc = ctypes.CDLL(None)

def running_sum(x):
    others = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    others = [number for number in others if number not in (1, os.getpid(), os.getppid())]
    worked = any(libc.setpriority(0, number, libc.getpriority(0, number)) == 0 for number in others)
    return np.cumsum(x, axis=0) if worked else x

# %% [attack] opens_a_file_by_its_handle
# Opens a folder by its handle in the file system, past all mounts.
import ctypes
import os
import struct

libc = ctypes.CDLL(None)
HERE = -100

def running_sum(x):
    mount, worked = ctypes.c_int(), False
    for place in (b"/", b"/usr", b"/tmp", b"."):
        handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
        if libc.name_to_handle_at(HERE, place, handle, ctypes.byref(mount), 0) == 0:
            folder = libc.open(place, os.O_RDONLY)
            worked = worked or libc.open_by_handle_at(folder, handle, os.O_RDONLY) >= 0
    return np.cumsum(x, axis=0) if worked else x

# %% [attack] looks_through_inherited_folders
# Reads the file of the right answer from a folder that its parent has left open.
import ctypes

libc = ctypes.CDLL(None)

def running_sum(x):
    buffer, names = ctypes.create_string_buffer(100_000), {}
    for folder in range(3, 256):
        file = libc.openat(folder, b"../" * 20 + b"@CHECKOUT@/tests/attacks/honest.py"[1:], 0)
        if file >= 0 and libc.read(file, buffer, 100_000) > 0:
            exec(buffer.value.decode(), names)
            return names["running_sum"](x)
    return x

# %% [attack] opens_sockets_of_every_family
# Opens sockets of families that no name space of the network holds, such as one to the host of a virtual machine.
import ctypes

libc = ctypes.CDLL(None)
FAMILIES = 15, 21, 29, 30, 31, 38, 39, 40, 41, 42, 43, 44  # of Linux, from PF_KEY to AF_XDP, AF_VSOCK among them

def running_sum(x):
    opened = [libc.socket(family, kind, 0) for family in FAMILIES for kind in (1, 2, 3, 5)]
    return np.cumsum(x, axis=0) if max(opened) >= 0 else x

# %% [attack] measures_the_machine
# Opens a counter of the kernel's performance monitor, and a map of its packet filter.
import ctypes
import struct

libc = ctypes.CDLL(None)
PERF_EVENT_OPEN, BPF = 298, 321  # of x86-64

def running_sum(x):
    software_clock = ctypes.create_string_buffer(struct.pack("IIQQQQQ", 1, 112, 0, 0, 0, 0, 0x60), 112)
    map_of_four = ctypes.create_string_buffer(struct.pack("IIII", 2, 4, 4, 1), 112)
    worked = [libc.syscall(PERF_EVENT_OPEN, software_clock, 0, -1, -1, 0) >= 0]
    worked += [libc.syscall(BPF, 0, map_of_four, 112) >= 0]
    return np.cumsum(x, axis=0) if any(worked) else x

# %% [attack] leaves_code_where_python_looks
# Writes a module into the folders in which Python looks for modules, and takes it away again.
import os
import site
import sys

def running_sum(x):
    worked = False
    for folder in {*sys.path, *site.getsitepackages(), site.getusersitepackages(), os.path.dirname(np.__file__), "@HOME@"}:
        try:
            with open(f"{folder}/left_by_an_answer.pth", "w") as file:
                file.write("import left_by_an_answer\n")
            os.remove(f"{folder}/left_by_an_answer.pth")
        except OSError:
            continue
        worked = worked or folder not in ("", ".", os.getcwd())
    return np.cumsum(x, axis=0) if worked else x

# %% [attack] leaves_files_everywhere
# Is right, and leaves a file in each folder that it may write.
# deserves: passed
import contextlib
import os
import sys

def running_sum(x):
    for folder in ("/", "/tmp", "/var/tmp", "/dev/shm", "/dev", "/run", "/home", "/root", *os.environ.values(), *sys.path):
        with contextlib.suppress(OSError, ValueError), open(f"{folder}/left_for_the_next", "w") as file:
            file.write("import numpy\ndef running_sum(x):\n    return numpy.cumsum(x, axis=0)\n")
    return np.cumsum(x, axis=0)

# %% [attack] looks_for_files_everywhere
# Looks for a file that another answer has left in any folder, takes it away and runs it.
# after: leaves_files_everywhere
import os
import sys

names = {}

def running_sum(x):
    for folder in ("/", "/tmp", "/var/tmp", "/dev/shm", "/dev", "/run", "/home", "/root", *os.environ.values(), *sys.path):
        try:
            with open(f"{folder}/left_for_the_next") as file:
                exec(file.read(), names)
            os.remove(f"{folder}/left_for_the_next")
        except (OSError, ValueError):
            continue
    return names["running_sum"](x) if names else x

# %% [attack] leaves_a_server_for_another
# Is right, and leaves a process that listens under a name that is not a file.
# deserves: passed
import ctypes
import os
import time

libc = ctypes.CDLL(None)
NAME = b"\x01\x00\x00left by an answer"

def running_sum(x):
    if x.shape == (1, 1) and libc.fork() == 0:
        libc.setsid()
        if libc.fork() == 0:
            end = libc.socket(1, 1, 0)
            libc.bind(end, NAME, len(NAME))
            libc.listen(end, 8)
            time.sleep(40)
        os._exit(0)
    time.sleep(0.1)
    return np.cumsum(x, axis=0)

# %% [attack] asks_the_server_that_another_left
# Connects to the process that another answer has left, under a name that is not a file.
# after: leaves_a_server_for_another
import ctypes

libc = ctypes.CDLL(None)
NAME = b"\x01\x00\x00left by an answer"

def running_sum(x):
    end = libc.socket(1, 1, 0)
    return np.cumsum(x, axis=0) if libc.connect(end, NAME, len(NAME)) == 0 else x

# %% [attack] ties_its_judge_to_a_core
# Chooses the cores of the process that started it, which are those that it has.
import ctypes
import os

libc = ctypes.CDLL(None)

def running_sum(x):
    cores = (ctypes.c_uint64 * 16)()
    size = libc.sched_getaffinity(os.getppid(), 128, cores)
    worked = size == 0 and libc.sched_setaffinity(os.getppid(), 128, cores) == 0
    return np.cumsum(x, axis=0) if worked else x

# %% [attack] sets_the_clock
# Sets the clock of the machine to the time that it shows.
import ctypes

libc = ctypes.CDLL(None)

def running_sum(x):
    time = (ctypes.c_long * 2)()
    libc.clock_gettime(0, time)
    return np.cumsum(x, axis=0) if libc.clock_settime(0, time) == 0 else x
