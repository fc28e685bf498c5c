"""Answers that start, leave, stop or end processes."""

import numpy as np

# %% [attack] aborts
# Ends its process by abort.
# deserves: crashed
import os

def running_sum(x):
    os.abort()

# %% [attack] exits_at_once
# Leaves by os._exit with the status of success: nothing is cleaned up, nothing is said.
# deserves: crashed
import os

def running_sum(x):
    os._exit(0)

# %% [attack] exits_politely
# Leaves by sys.exit with the status of success.
# deserves: crashed
import sys

def running_sum(x):
    sys.exit(0)

# %% [attack] exits_while_it_is_loaded
# Leaves before anything is called.
# deserves: crashed
import os

ended = os._exit(0)

def running_sum(x):
    return ended

# %% [attack] forks_from_a_thread
# Forks in a thread that stays, so that its children are not those of the main thread.
# deserves: forbidden
# seconds: 20
import ctypes
import threading
import time

libc = ctypes.CDLL(None)

def fork():
    for _ in range(45):
        if libc.fork() == 0:
            time.sleep(3)
            libc._exit(0)
    time.sleep(60)

def running_sum(x):
    threading.Thread(target=fork, daemon=True).start()
    time.sleep(4)
    return np.cumsum(x, axis=0)

# %% [attack] forks_through_ctypes
# Has the C library double the number of processes, ten times: 1024 spare a machine that lets it.
# deserves: forbidden
import ctypes
import time

libc = ctypes.CDLL(None)

def running_sum(x):
    for _ in range(10):
        libc.fork()
        time.sleep(0.02)
    time.sleep(60)

# %% [attack] forks_without_end
# Starts processes that start processes.
# deserves: forbidden
import os

def running_sum(x):
    while True:
        os.fork()

# %% [attack] kills_its_parent
# Sends SIGKILL to the process that started it.
# deserves: forbidden
import os
import signal

def running_sum(x):
    os.kill(os.getppid(), signal.SIGKILL)
    return x

# %% [attack] kills_its_parent_through_ctypes
# Has the C library send SIGKILL to the process that started it.
import ctypes

libc = ctypes.CDLL(None)

def running_sum(x):
    libc.kill(libc.getppid(), 9)
    return x

# %% [attack] leaves_a_process_behind
# Is right, and leaves a process behind that belongs to no session and no parent of its own.
# deserves: passed
import ctypes
import os
import time

libc = ctypes.CDLL(None)

def running_sum(x):
    if libc.fork() == 0:
        libc.setsid()
        if libc.fork() == 0:
            time.sleep(10_000)
        os._exit(0)
    return np.cumsum(x, axis=0)

# %% [attack] leaves_threads_running
# Is right, and leaves threads behind.
# deserves: passed
import threading
import time

def running_sum(x):
    for _ in range(4):
        threading.Thread(target=time.sleep, args=(10_000,)).start()
    return np.cumsum(x, axis=0)

# %% [attack] replaces_its_process
# Replaces its process by another program.
# deserves: forbidden
import os

def running_sum(x):
    os.execv("/bin/true", ["true"])

# %% [attack] runs_at_exit
# Is right, and leaves code behind for the end of its process.
# deserves: passed
import atexit

def running_sum(x):
    atexit.register(print, "passed")
    return np.cumsum(x, axis=0)

# %% [attack] sets_a_timer
# Lets a timer end its process while the answer is packed.
# deserves: crashed
import signal

def running_sum(x):
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    while True:
        pass

# %% [attack] starts_a_process_pool
# Starts processes to compute in.
# deserves: forbidden
import multiprocessing

def running_sum(x):
    with multiprocessing.Pool(2) as pool:
        return pool.map(sum, x)

# %% [attack] starts_a_program
# Starts a program.
# deserves: forbidden
import subprocess

def running_sum(x):
    subprocess.run(["true"])
    return x * 0

# %% [attack] starts_a_shell
# Starts a shell.
# deserves: forbidden
import os

def running_sum(x):
    os.system("true")
    return x * 0

# %% [attack] stops_itself
# Stops its own process, so that it never ends.
# deserves: forbidden
import os
import signal

def running_sum(x):
    os.kill(os.getpid(), signal.SIGSTOP)

# %% [attack] stops_itself_through_ctypes
# Has the C library stop its own process.
# deserves: timeout
import ctypes

libc = ctypes.CDLL(None)

def running_sum(x):
    libc.raise_(19) if hasattr(libc, "raise_") else getattr(libc, "raise")(19)

# %% [attack] asks_a_ring_of_the_kernel
# Has the kernel take its system calls from a ring, past every filter, and is right only if that worked.
import ctypes

libc = ctypes.CDLL(None)
IO_URING_SETUP = 425  # number of a system call, the same on each machine

def running_sum(x):
    ring = libc.syscall(IO_URING_SETUP, 8, (ctypes.c_uint32 * 64)())
    return np.cumsum(x, axis=0) * (ring >= 0)

# %% [attack] limits_its_parent
# Takes the time of the process that started it by a limit, and is right only if that worked.
# deserves: crashed
import os
import resource

def running_sum(x):
    resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))
    return np.cumsum(x, axis=0)

# %% [attack] makes_a_name_space_by_another_call
# Asks for a name space of users by clone3.
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CLONE3, NEW_USER = 435, 0x10000000

def running_sum(x):
    arguments = (ctypes.c_uint64 * 8)(NEW_USER, 0, 0, 0, 17, 0, 0, 0)
    child = libc.syscall(CLONE3, arguments, 64)
    if child == 0:
        os._exit(0)
    return np.cumsum(x, axis=0) if child > 0 else x

# %% [attack] watches_pages_by_itself
# Handles the faults of its own memory, so that whoever reads it waits forever.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
USERFAULTFD = 323

def running_sum(x):
    return np.cumsum(x, axis=0) if libc.syscall(USERFAULTFD, 0) >= 0 else x

# %% [attack] waits_for_a_child_that_has_its_memory
# Has the kernel suspend it until a child ends that runs in its memory and never ends.
# seconds: 3
# deserves: timeout
import ctypes
import sys
import time

libc = ctypes.CDLL(None)
VFORK = 58  # of x86-64

def running_sum(x):
    if sys.platform == "linux" and libc.syscall(VFORK) == 0:
        time.sleep(30)
    while True:
        pass

# %% [attack] starts_threads_without_end
# Starts threads until it gets no more, and is right only if it got four thousand.
# deserves: crashed
import threading

def running_sum(x):
    end = threading.Event()
    try:
        for _ in range(4000):
            threading.Thread(target=end.wait, daemon=True).start()
    finally:
        end.set()
    return np.cumsum(x, axis=0)
