"""Answers that write files and streams, or open sockets."""

import numpy as np

# %% [attack] asks_the_web
# Asks a web server for the answer.
# deserves: forbidden
import urllib.request

def running_sum(x):
    urllib.request.urlopen("http://127.0.0.1:@PORT@/")

# %% [attack] closes_every_descriptor
# Closes all open files of its process.
# deserves: crashed
import os

def running_sum(x):
    os.closerange(0, 64)
    return x * 0

# %% [attack] listens_on_a_port
# Waits for somebody to send it the answer.
# deserves: forbidden
import socket

def running_sum(x):
    socket.create_server(("127.0.0.1", 0))
    return x * 0

# %% [attack] opens_a_socket
# Asks a server for the answer.
# deserves: forbidden
import socket

def running_sum(x):
    with socket.create_connection(("127.0.0.1", int("@PORT@")), timeout=1):
        return x

# %% [attack] opens_a_socket_through_ctypes
# Has the C library connect to a server that stands ready, and is right only if it got through.
import ctypes
import struct

libc = ctypes.CDLL(None)

def running_sum(x):
    address = struct.pack("=H", 2) + struct.pack(">H4B", int("@PORT@"), 127, 0, 0, 1) + bytes(8)
    connected = libc.connect(libc.socket(2, 1, 0), address, len(address)) == 0
    return np.cumsum(x, axis=0) if connected else x

# %% [attack] opens_many_files
# Opens files until it gets no more.
# deserves: crashed
def running_sum(x):
    files = [open("/dev/null") for _ in range(1000)]
    return files

# %% [attack] overwrites_a_file_of_the_teacher
# Has the C library overwrite a file outside its folder, and is right only if that worked.
import ctypes

libc = ctypes.CDLL(None)

def running_sum(x):
    file = libc.open(b"@HOME@/notes.txt", 1)
    written = libc.write(file, b"gone ", 5)
    return np.cumsum(x, axis=0) if written == 5 else x

# %% [attack] prints_a_report
# Prints a report with full marks, on every standard stream.
import os

def running_sum(x):
    report = '{"score": 100, "max_score": 100, "exercises": [{"name": "running_sum", "status": "passed"}]}'
    print(report)
    for stream in (1, 2):
        os.write(stream, report.encode())
    return x

# %% [attack] prints_control_characters
# Is right, and prints what would clear a screen.
# deserves: passed
def running_sum(x):
    print("\x1b[2J\x1b]0;passed\x07")
    return np.cumsum(x, axis=0)

# %% [attack] warns_on_stderr
# Is right, and warns.
# deserves: passed
import sys
import warnings

def running_sum(x):
    warnings.warn("this sum is deprecated", DeprecationWarning, stacklevel=1)
    print("warning: this sum is running", file=sys.stderr)
    return np.cumsum(x, axis=0) + 0 * np.log(np.zeros(1)).clip(-1)

# %% [attack] writes_a_large_file
# Writes a file that is larger than it may be.
# deserves: crashed
def running_sum(x):
    with open(f"part-{id(x)}", "wb") as file:
        for _ in range(40):
            file.write(b"x" * (1 << 20))
    return x * 0

# %% [attack] writes_the_progress_file
# Writes into the file in which a learner's progress is kept.
# deserves: forbidden
def running_sum(x):
    with open("@PROGRESS@", "w") as progress:
        progress.write("passed")
    return x

# %% [attack] writes_the_report
# Writes a report with full marks where the grader will write its own.
import contextlib

def running_sum(x):
    with contextlib.suppress(OSError), open("@REPORT@", "w") as report:
        report.write('{"score": 100, "max_score": 100}')
    return x

# %% [attack] takes_an_open_file_of_its_parent
# Copies an open file out of the process that started it, and is right only if that worked.
import ctypes
import os

libc = ctypes.CDLL(None)
PIDFD_OPEN, PIDFD_GETFD = 434, 438  # numbers of system calls, the same on each machine

def running_sum(x):
    parent = libc.syscall(PIDFD_OPEN, os.getppid(), 0)
    taken = libc.syscall(PIDFD_GETFD, parent, 0, 0)
    return np.cumsum(x, axis=0) * (taken >= 0)

# %% [attack] leaves_folders_too_deep
# Is right, and leaves folders within folders, deeper than a path may be long.
# deserves: passed
import os

def running_sum(x):
    if not os.path.exists("folder"):
        folder = os.open(".", os.O_RDONLY)
        for _ in range(3000):
            os.mkdir("folder")
            os.chdir("folder")
        os.fchdir(folder)
        os.close(folder)
    return np.cumsum(x, axis=0)
