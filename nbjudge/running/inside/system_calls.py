"""System calls that a learner's process may not make. The kernel enforces the rule (a seccomp filter), for
all that the process starts.

shmget and its kin make memory that belongs to no process: a segment, a queue or a key stays when nobody has
it attached, and then no look at a process finds it. io_uring has the kernel do what a filter would refuse.
pidfd_getfd, ptrace and limits of another process reach into the one that started the answer. Namespaces and
mounts of its own would give an answer a file system in memory as large as it likes, in which nobody outside
finds what it holds. Nothing that an answer needs calls any of them. The flags of clone3 lie in memory, which
a filter cannot read: it is refused as unknown to the kernel, and the C library then takes clone.
"""

import ctypes
import errno
import platform
import sys

NO_NEW_PRIVILEGES, SET_FILTER, MODE_FILTER = 38, 22, 2  # of prctl
KERNEL_NAMES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CLONE = {"x86_64": 56, "aarch64": 220}
NEW_NAMESPACES = 0x7E020000  # flags of clone: all kinds of namespaces that it can make
REFUSED = {  # number on each machine
    "shmget": {"x86_64": 29, "aarch64": 194},
    "unshare": {"x86_64": 272, "aarch64": 97},
    "setns": {"x86_64": 308, "aarch64": 268},
    "mount": {"x86_64": 165, "aarch64": 40},
    "clone3": {"x86_64": 435, "aarch64": 435},
    "open_tree": {"x86_64": 428, "aarch64": 428},
    "move_mount": {"x86_64": 429, "aarch64": 429},
    "fsopen": {"x86_64": 430, "aarch64": 430},
    "fsmount": {"x86_64": 432, "aarch64": 432},
    "msgget": {"x86_64": 68, "aarch64": 186},
    "semget": {"x86_64": 64, "aarch64": 190},
    "mq_open": {"x86_64": 240, "aarch64": 180},
    "add_key": {"x86_64": 248, "aarch64": 217},
    "request_key": {"x86_64": 249, "aarch64": 218},
    "keyctl": {"x86_64": 250, "aarch64": 219},
    "io_uring_setup": {"x86_64": 425, "aarch64": 425},
    "userfaultfd": {"x86_64": 323, "aarch64": 282},
    "pidfd_getfd": {"x86_64": 438, "aarch64": 438},
    "ptrace": {"x86_64": 101, "aarch64": 117},
    "process_vm_readv": {"x86_64": 310, "aarch64": 270},
    "process_vm_writev": {"x86_64": 311, "aarch64": 271},
}
LIMITS = {"x86_64": 302, "aarch64": 261}  # prlimit64, refused where it names a process: 0 is one's own
FOREIGN_CALLS = 0x40000000  # from here on: calls of another interface of x86
LOAD, IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # instructions of the filter
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.ENOSYS
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # where the call's description has them; little-endian


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
    """Refuse REFUSED, namespaces by clone and limits of other processes from here on.

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
    """The filter's instructions. Six of the last eight look at the first argument of clone and of prlimit64;
    two refuse and allow, where all the others jump to."""
    numbers = [by_machine[machine] for by_machine in REFUSED.values()]
    refusing = len(numbers) + 10  # the place of that instruction; a jump counts from the one behind it
    steps = [
        (LOAD, 0, 0, ARCHITECTURE),
        (IF_EQUAL, 0, refusing - 2, KERNEL_NAMES[machine]),
        (LOAD, 0, 0, NUMBER),
        (IF_AT_LEAST, refusing - 4, 0, FOREIGN_CALLS),
    ]
    steps += [(IF_EQUAL, refusing - place - 1, 0, number) for place, number in enumerate(numbers, 4)]
    return [
        *steps,
        (IF_EQUAL, 0, 2, CLONE[machine]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (IF_ANY_BIT, 3, 4, NEW_NAMESPACES),
        (IF_EQUAL, 0, 3, LIMITS[machine]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (IF_EQUAL, 1, 0, 0),
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
    ]
