"""System calls that a learner's process may not make. The kernel enforces the rule (a seccomp filter), for
all that the process starts.

shmget and its kin make memory that belongs to no process: a segment, a queue or a key stays when nobody has
it attached, and then no look at a process finds it. The buffers of sockets belong to no process either, and a
file on its way through one is nobody's; some families of sockets leave every name space. io_uring has the
kernel do what a filter would refuse. ptrace, signals, limits, priorities, choices of cores reach into other
processes, which without bubblewrap is the judge. Namespaces and mounts of its own would give an answer a file
system in memory as large as it likes, in which nobody outside finds what it holds. Nothing that an answer
needs calls any of them. The flags of clone3 lie in memory, which a filter cannot read: it is refused as
unknown to the kernel, and the C library then takes clone.
"""

import ctypes
import errno
import os
import platform
import sys
import tomllib
from pathlib import Path

NO_NEW_PRIVILEGES = 38
SET_FILTER = 22
MODE_FILTER = 2  # of prctl
KERNEL_NAMES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CLONE = {"x86_64": 56, "aarch64": 220}
NEW_NAMESPACES = 0x7E020000  # flags of clone: all kinds of namespaces that it can make
CALLS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FOREIGN_CALLS = 0x40000000  # from here on: calls of another interface of x86
LOAD = 0x20
IF_EQUAL = 0x15
IF_AT_LEAST = 0x35
IF_ANY_BIT = 0x45
RETURN = 0x06  # instructions of the filter
ALLOW = 0x7FFF0000
REFUSE = 0x00050000 | errno.ENOSYS
NUMBER = 0
ARCHITECTURE = 4
FIRST_ARGUMENT = 16  # where the call's description has them; little-endian


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


def refuse_calls() -> bool:
    """Refuse the calls of system_calls.toml, and namespaces by clone, from here on.

    False where this system has no such filter.
    """
    machine = platform.machine()
    if sys.platform != "linux" or machine not in KERNEL_NAMES or sys.maxsize < 2**32:
        return False
    steps = _steps(machine)
    program = Program(len(steps), (Instruction * len(steps))(*(Instruction(*step) for step in steps)))
    prctl = ctypes.CDLL(None).prctl
    prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return prctl(SET_FILTER, MODE_FILTER, ctypes.byref(program), 0, 0) == 0


def _steps(machine: str) -> list[tuple[int, int, int, int]]:
    """The filter's instructions; a jump counts from the one behind it, and its goals stand at the end."""
    refused = [numbers[machine] for numbers in CALLS["refused"].values()]
    own = [numbers[machine] for numbers in CALLS["own"].values()]
    begin = [
        (LOAD, ARCHITECTURE, "", ""),
        (IF_EQUAL, KERNEL_NAMES[machine], "", "refuse"),
        (LOAD, NUMBER, "", ""),
        (IF_AT_LEAST, FOREIGN_CALLS, "refuse", ""),
        *((IF_EQUAL, number, "refuse", "") for number in refused),
        (IF_EQUAL, CLONE[machine], "clone", ""),
        *((IF_EQUAL, number, "own", "") for number in own[:-1]),
        (IF_EQUAL, own[-1], "own", "allow"),
    ]
    end = {
        "clone": [(LOAD, FIRST_ARGUMENT, "", ""), (IF_ANY_BIT, NEW_NAMESPACES, "refuse", "allow")],
        "own": [(LOAD, FIRST_ARGUMENT, "", ""), (IF_EQUAL, 0, "allow", "")],
        "self": [(IF_EQUAL, os.getpid(), "allow", "refuse")],
        "refuse": [(RETURN, REFUSE, "", "")],
        "allow": [(RETURN, ALLOW, "", "")],
    }
    steps = begin
    places = {}
    for name, part in end.items():
        places[name] = len(steps)
        steps = steps + part

    def jump(place, name):
        return places[name] - place - 1 if name else 0

    return [(code, jump(k, yes), jump(k, no), value) for k, (code, value, yes, no) in enumerate(steps)]
