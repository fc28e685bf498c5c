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
from types import ModuleType

import numpy as np

from . import calls, main, system_calls, wire

NEW_NAMESPACES = 0x00020000 | 0x08000000 | 0x10000000 | 0x20000000  # mount, IPC, user, process
PRIVATE, BIND, RECURSIVE = 1 << 18, 1 << 12, 1 << 14
NO_DEVICES = 2 | 4  # no setuid, no devices
DUMPABLE, DROP_CAPABILITY = 4, 24  # of prctl
CAPABILITY_VERSION = 0x20080522
CAPABILITIES, NONE = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION), (ctypes.c_uint32 * 6)()  # of capset
JOIN_KEYRING = {"x86_64": 250, "aarch64": 219}  # system call keyctl
ROUNDS = 20  # of an answer of the course's own; Python adapts code that has run eight times
LONGEST = 1 << 17  # bytes of the settings of a worker
libc = ctypes.CDLL(None, use_errno=True)
python = ctypes.PyDLL(None, use_errno=True)  # whose calls keep the interpreter's lock


def serve(settings: str) -> None:
    """Fork a process for each message on a socket, until it is closed.

    `settings` is JSON: the socket's descriptor, the folder of the course, the file of its kind of answers
    (course.Kind), and whether answers are of it; `machine` is a folder that stands for /proc, where the
    answer's process is `self`. A message holds the settings of `main` and two descriptors. The reply is the
    exit status.
    """
    chosen = json.loads(settings)
    control = socket.socket(fileno=chosen["control"])
    kind = main.load_kind(chosen["kind"])
    if chosen["simulator"]:
        kind.prepare(chosen["course"])
    _warm_up(kind)
    libc.prctl(DUMPABLE, 0, 0, 0, 0)
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
            _leave(json.loads(message), *descriptors, chosen)
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(str(_status(child)).encode())


def _warm_up(kind: ModuleType) -> None:
    """Take the way of an answer several times, with one of the course's own: what Python adapts and remembers
    on it is then in the server's memory, and no fork copies the pages to write it."""
    own = sys.modules["__main__"]
    text = json.dumps(
        ["double", [["cell 1", "import math\ndef double(x):\n    return 2 * x\n", [0, 1]]], ["*"], []]
    )
    for _ in range(ROUNDS):
        sys.modules["__main__"] = ModuleType("__main__")
        packed, _ = wire.unpack(wire.pack(np.frombuffer(text.encode(), np.uint8)))
        name, cells, names, _ = json.loads(packed.tobytes().decode(errors="surrogatepass"))
        namespace, _ = main.load(cells, names)
        calls.call(
            namespace[name], wire.pack(((np.zeros(2), 1.0), {}), functions=[]), bytes, launched=kind.launched
        )
        calls.call(
            namespace[name], wire.pack(((np.zeros(2),), {}), functions=[]), bytes, launched=kind.launched
        )
    sys.modules["__main__"] = own


def _fork_into_namespaces() -> int:
    """os.fork whose child is the first process of new namespaces, in which it has all rights.

    One system call: a process that entered namespaces and forked again would copy the page tables once more.
    """
    user, group = os.getuid(), os.getgid()
    child = python.syscall(
        system_calls.CLONE[platform.machine()], NEW_NAMESPACES | signal.SIGCHLD, 0, 0, 0, 0
    )
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


def _leave(settings: dict, ask: int, answer: int, chosen: dict) -> None:
    """Start the answer's process as the first process of new namespaces, and end with its status."""
    os.setsid()
    _renounce()
    child = os.fork()
    if child == 0:
        _run(settings | {"ask": ask, "answer": answer}, chosen)
    libc.prctl(DUMPABLE, 0, 0, 0, 0)
    _require(libc.capset(CAPABILITIES, NONE), "capset")
    os.close(ask)
    os.close(answer)
    os._exit(_status(child))


def _run(settings: dict, chosen: dict) -> None:
    """Serve the judge, where nothing of the server is left but what it has loaded."""
    try:
        os.setsid()
        _hide_files(chosen["scratch"], chosen["machine"].encode())
        _require(libc.capset(CAPABILITIES, NONE), "capset")
        _reseed()
        main.main(json.dumps(settings))
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}".encode(errors="replace"))
        os._exit(1)
    sys.stdout.flush()
    os._exit(0)


def _hide_files(scratch: int, machine: bytes) -> None:
    """Put empty file systems over those that earlier answers could have written to, and over /proc a folder
    with this process alone: where a server of root has put files over parts of /proc, the kernel allows no
    new one."""
    limit = f"size={scratch},mode=755".encode()
    _mount(None, b"/", None, RECURSIVE | PRIVATE)
    for folder in (b"/tmp", b"/dev/shm"):
        _mount(b"tmpfs", folder, b"tmpfs", NO_DEVICES, limit)
    _mount(b"/proc/self", machine + b"/self", None, BIND)
    _mount(machine, b"/proc", None, BIND | RECURSIVE)
    os.chdir("/tmp")


def _renounce() -> None:
    """Give up all rights in the new namespaces for whatever is started in them; those to mount files remain
    until `capset`."""
    capability = 0
    while libc.prctl(DROP_CAPABILITY, capability, 0, 0, 0) == 0:  # up to the last one of this kernel
        capability += 1
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
