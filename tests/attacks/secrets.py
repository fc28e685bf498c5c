"""Answers that look for the right answer, the reference, the seed or the judge's memory."""

import numpy as np

# %% [attack] imports_the_checks
# Imports the checks with their wanted values.
# deserves: forbidden
from rnncourse.checks import lesson_00_start_here

def running_sum(x):
    return lesson_00_start_here.check_last_step.reference(x)

# %% [attack] imports_the_grader
# Imports the judge of its own answer.
# deserves: forbidden
def running_sum(x):
    from nbjudge.grading import judge

    return judge.judge(x)

# %% [attack] imports_the_reference
# Imports the course's own implementation and lets it do the work.
# deserves: forbidden
from rnnlab import reference

def running_sum(x):
    return reference.forward(x)

# %% [attack] leaves_its_answer_in_a_file
# Is right, and leaves its source where the next submission may find it.
# deserves: passed
import contextlib

SOURCE = "import numpy\ndef running_sum(x):\n    return numpy.cumsum(x, axis=0)\n"

def running_sum(x):
    with contextlib.suppress(OSError), open("@HOME@/left.py", "w") as file:
        file.write(SOURCE)
    return np.cumsum(x, axis=0)

# %% [attack] lists_the_course
# Lists the folder of the course.
# deserves: forbidden
import os

def running_sum(x):
    os.listdir("@CHECKOUT@/rnnlab")
    return x * 0

# %% [attack] looks_for_the_seed
# Looks for the seed in its environment and arguments.
import os
import sys

def running_sum(x):
    return x * float("seed" in str(os.environ) + str(sys.argv))

# %% [attack] reads_the_answer
# Opens the file in which the right answer stands.
# deserves: forbidden
def running_sum(x):
    names = {}
    exec(open("@CHECKOUT@/tests/attacks/honest.py").read(), names)
    return names["running_sum"](x)

# %% [attack] reads_the_answer_through_ctypes
# Has the C library read the file in which the right answer stands: no Python function is called.
# deserves: crashed
import ctypes

libc = ctypes.CDLL(None)

def running_sum(x):
    buffer = ctypes.create_string_buffer(100_000)
    libc.read(libc.open(b"@CHECKOUT@/tests/attacks/honest.py", 0), buffer, 100_000)
    names = {}
    exec(buffer.value.decode(), names)
    return names["running_sum"](x)

# %% [attack] reads_the_commands_of_others
# Looks for the seed in the command lines of other processes.
def running_sum(x):
    texts = []
    for number in range(1, 4000):
        try:
            texts.append(open(f"/proc/{number}/cmdline").read())
        except OSError:
            continue
    return x * float("--seed" in str(texts))

# %% [attack] reads_the_memory_of_its_judge
# Opens the memory of its parent through the C library, and is right only if that worked.
import ctypes
import os

def running_sum(x):
    file = ctypes.CDLL(None).open(f"/proc/{os.getppid()}/mem".encode(), 0)
    return np.cumsum(x, axis=0) if file >= 0 and os.getppid() > 1 else x

# %% [attack] searches_memory
# Asks the garbage collector for every object, to find the wanted values or the judge itself.
import gc

def running_sum(x):
    for result in gc.get_objects():
        for value in gc.get_referents(result):
            if isinstance(value, np.ndarray) and value.shape == x.shape and value is not x:
                return value
    return x

# %% [attack] takes_the_answer_that_another_left
# Runs what another submission has left in a file.
# deserves: crashed
# after: leaves_its_answer_in_a_file
with open("@HOME@/left.py") as file:
    exec(file.read())

# %% [attack] walks_the_stack
# Looks through all calling frames for an array that could be the wanted one.
import sys

def running_sum(x):
    frame = sys._getframe()
    while frame := frame.f_back:
        for value in (*frame.f_locals.values(), *frame.f_globals.values()):
            if isinstance(value, np.ndarray) and value.shape == x.shape and value is not x:
                return value
    return x

# %% [attack] leaves_a_key_for_another
# Leaves text in the kernel's keyring for whoever is graded next, and is right only if that worked.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
ADD_KEY, USER_KEYRING = 248, -4

def running_sum(x):
    left = libc.syscall(ADD_KEY, b"user", b"rnnlab", b"the answers", 11, ctypes.c_long(USER_KEYRING))
    return np.cumsum(x, axis=0) if left > 0 else x

# %% [attack] reads_the_environment_of_others
# Looks for the variables of other processes, and is right only if one holds a name that its own lacks.
import os

def running_sum(x):
    names = set()
    for number in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ", "rb") as file:
                names |= {part.partition(b"=")[0] for part in file.read().split(b"\0")}
        except OSError:
            continue
    with open("/proc/self/environ", "rb") as file:
        names -= {part.partition(b"=")[0] for part in file.read().split(b"\0")}
    return np.cumsum(x, axis=0) if names - {name.encode() for name in os.environ} else x
