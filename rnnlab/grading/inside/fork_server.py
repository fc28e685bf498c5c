"""A process that has loaded what answers need, and forks one process for each: grading a class starts a
thousand of them, and NumPy and the simulator take longer to load than most answers to run.

No answer ever runs in this process. Each fork leaves it for namespaces of its own before it takes an answer:
its own processes, files in memory, and interprocess communication; no rights in the namespaces of the server;
of the server's files in memory it sees none. Linux only, and only under bubblewrap.
"""

import ctypes
import gc
import json
import os
import platform
import resource  # noqa: F401  which `main` needs: loaded once, not in each fork
import signal
import socket
import sys

from . import kernels, main, system_calls

NEW_NAMESPACES = 0x00020000 | 0x08000000 | 0x10000000 | 0x20000000  # mount, IPC, user, process
PRIVATE, BIND, MOVE, REMOUNT, READ_ONLY = 1 << 18, 1 << 12, 1 << 13, 1 << 5, 1
NO_DEVICES = 2 | 4 | 8  # no setuid, no devices, no programs
RECURSIVE = 1 << 14
DUMPABLE, DROP_CAPABILITY = 4, 24  # of prctl
CAPABILITY_VERSION = 0x20080522
CLONE = {"x86_64": 56, "aarch64": 220}  # system call
JOIN_KEYRING = {"x86_64": 250, "aarch64": 219}  # system call keyctl
OF_MACHINE = "cpuinfo", "meminfo", "stat", "filesystems", "version", "uptime", "loadavg"  # files in /proc
LONGEST = 1 << 17  # bytes of the settings of a worker
libc = ctypes.CDLL(None, use_errno=True)
python = ctypes.PyDLL(None, use_errno=True)  # whose calls keep the interpreter's lock


def serve(settings: str) -> None:
    """Fork a process for each message on a socket, until it is closed.

    `settings` is JSON: the socket's descriptor, the folder of the course, and whether answers need the
    simulator. A message holds the settings of `main` and two descriptors. The reply is the exit status.
    """
    chosen = json.loads(settings)
    control = socket.socket(fileno=chosen["control"])
    if chosen["simulator"]:
        kernels.prepare(chosen["course"])
    libc.prctl(DUMPABLE, 0, 0, 0, 0)
    system_calls.refuse_segments()
    gc.collect()
    gc.freeze()  # a fork that looks through all objects would copy their pages
    control.send(b"ready")
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, LONGEST, 2)
        if not message:
            return
        child = _fork_into_namespaces()
        if child == 0:
            control.close()
            _leave(json.loads(message), *descriptors, chosen["scratch"])
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(str(_status(child)).encode())


def _fork_into_namespaces() -> int:
    """os.fork whose child is the first process of new namespaces, in which it has all rights.

    One system call: a process that entered namespaces and forked again would copy the page tables once more.
    """
    user, group = os.getuid(), os.getgid()
    child = python.syscall(CLONE[platform.machine()], NEW_NAMESPACES | signal.SIGCHLD, 0, 0, 0, 0)
    _require(min(child, 0), "clone")
    if child == 0:
        libc.prctl(DUMPABLE, 1, 0, 0, 0)  # else its maps of users belong to another user
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            file = os.open(f"/proc/self/{name}", os.O_WRONLY)
            os.write(file, text.encode())
            os.close(file)
    return child


def _status(child: int) -> int:
    """The exit status of a child, as a shell reports it. With the first process of a namespace all in it
    have ended."""
    _, raw = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(raw)
    return code if code >= 0 else 128 - code


def _leave(settings: dict, ask: int, answer: int, scratch: int) -> None:
    """Start the answer's process as the first process of new namespaces, and end with its status."""
    os.setsid()
    child = os.fork()
    if child == 0:
        _run(settings | {"ask": ask, "answer": answer}, scratch)
    libc.prctl(DUMPABLE, 0, 0, 0, 0)
    _drop_capabilities()
    os.close(ask)
    os.close(answer)
    os._exit(_status(child))


def _run(settings: dict, scratch: int) -> None:
    """Serve the judge, where nothing of the server is left but what it has loaded."""
    try:
        os.setsid()
        _hide_files(scratch)
        _drop_capabilities()
        _reseed()
        main.main(json.dumps(settings))
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}".encode(errors="replace"))
        os._exit(1)
    sys.stdout.flush()
    os._exit(0)


def _hide_files(scratch: int) -> None:
    """Put empty file systems over those that earlier answers could have written to."""
    limit = f"size={scratch},mode=755".encode()
    _mount(None, b"/", None, RECURSIVE | PRIVATE)
    for folder in (b"/tmp", b"/dev/shm"):
        _mount(b"tmpfs", folder, b"tmpfs", 2 | 4, limit)
    _mount(b"tmpfs", b"/dev/pts", b"tmpfs", READ_ONLY, b"size=4k")
    if libc.mount(b"proc", b"/proc", b"proc", NO_DEVICES, None) != 0:
        _mount_own_process()
    os.chdir("/tmp")


def _mount_own_process() -> None:
    """Where the kernel allows no new /proc: the parts of the old one about this process and the machine."""
    stage = "/tmp/proc"
    os.mkdir(stage)
    _mount(b"tmpfs", stage.encode(), b"tmpfs", NO_DEVICES, b"size=64k,mode=755")
    os.mkdir(f"{stage}/self")
    _mount(b"/proc/self", f"{stage}/self".encode(), None, BIND)
    for name in OF_MACHINE:
        with open(f"{stage}/{name}", "w"):
            pass
        _mount(f"/proc/{name}".encode(), f"{stage}/{name}".encode(), None, BIND)
    _mount(stage.encode(), b"/proc", None, MOVE)
    _mount(None, b"/proc", None, REMOUNT | BIND | READ_ONLY | NO_DEVICES)
    os.rmdir(stage)


def _drop_capabilities() -> None:
    """Give up all rights in the new namespaces, for this process and all that it starts."""
    capability = 0
    while libc.prctl(DROP_CAPABILITY, capability, 0, 0, 0) == 0:  # up to the last one of this kernel
        capability += 1
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    _require(libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")
    if platform.machine() in JOIN_KEYRING:  # a keyring of the session would outlive the answer
        libc.syscall(JOIN_KEYRING[platform.machine()], 1, None)


def _reseed() -> None:
    """Let random numbers differ from one answer to the next, as in a program of its own."""
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    if "random" in sys.modules:
        sys.modules["random"].seed()


def _mount(
    source: bytes | None, target: bytes, kind: bytes | None, flags: int, options: bytes | None = None
) -> None:
    _require(libc.mount(source, target, kind, ctypes.c_ulong(flags), options), f"mount {target.decode()}")


def _require(result: int, what: str) -> None:
    """OSError where a system call has failed."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
