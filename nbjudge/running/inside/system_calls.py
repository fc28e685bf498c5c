"""A system call that a learner's process may not make: shmget, memory that belongs to no process.

A System V segment stays when nobody has it attached, and then no look at a process finds it. Nothing that an
answer needs calls it. The kernel enforces the rule (a seccomp filter), for all that the process starts.
"""

import ctypes
import errno
import platform
import sys
from functools import cache

NO_NEW_PRIVILEGES, SET_FILTER, MODE_FILTER = 38, 22, 2  # of prctl
ARCHITECTURES = {"x86_64": (0xC000003E, 29), "aarch64": (0xC00000B7, 194)}  # name in the kernel, shmget
FOREIGN_CALLS = 0x40000000  # from here on: calls of another interface of x86
LOAD, IF_EQUAL, IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06  # instructions of the filter
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.ENOSYS
NUMBER, ARCHITECTURE = 0, 4  # where the call's description has them


class Instruction(ctypes.Structure):
    """One step of a filter: skip so many where the comparison holds, so many where not."""

    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class Program(ctypes.Structure):
    """A filter as prctl takes it."""

    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(Instruction)))


@cache  # a fork has the filter of its server
def refuse_segments() -> bool:
    """Refuse shmget from here on; False where this system has no such filter."""
    if sys.platform != "linux" or platform.machine() not in ARCHITECTURES or sys.maxsize < 2**32:
        return False
    architecture, shmget = ARCHITECTURES[platform.machine()]
    steps = (
        (LOAD, 0, 0, ARCHITECTURE),
        (IF_EQUAL, 0, 3, architecture),
        (LOAD, 0, 0, NUMBER),
        (IF_AT_LEAST, 1, 0, FOREIGN_CALLS),
        (IF_EQUAL, 0, 1, shmget),
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
    )
    program = Program(len(steps), (Instruction * len(steps))(*(Instruction(*step) for step in steps)))
    prctl = ctypes.CDLL(None).prctl
    prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return prctl(SET_FILTER, MODE_FILTER, ctypes.byref(program), 0, 0) == 0
