"""Memory of a family: counted once, wherever it lies, and what cannot be counted is noticed."""

import errno
import mmap
import os
import subprocess
import sys

import psutil
import pytest

from nbjudge.running import memory
from nbjudge.running.sandbox import INSIDE

MIB = 1 << 20
linux = pytest.mark.skipif(sys.platform != "linux", reason="files in memory have names on Linux only")


@linux
@pytest.mark.parametrize("mapped", [False, True])
def test_a_file_in_memory_counts_once_however_many_hold_it(mapped):
    us = [psutil.Process()] * 3
    before = memory.family_bytes([us[0]])
    file = os.memfd_create("held")
    os.write(file, bytes(64 * MIB))
    view = mmap.mmap(file, 64 * MIB) if mapped else None
    try:
        one = memory.family_bytes([us[0]]) - before
        others = memory.family_bytes(us) - memory.family_bytes(us[:1])
        assert 60 * MIB < one < 80 * MIB
        assert others < 2.5 * before  # their private parts, not the file again
    finally:
        os.close(file)
        if view:
            assert memory.family_bytes([us[0]]) - before > 60 * MIB  # the mapping keeps it
            view.close()


def test_shared_memory_without_a_name_counts():
    us = [psutil.Process()]
    before = memory.family_bytes(us)
    with mmap.mmap(-1, 64 * MIB) as shared:
        shared[:] = bytes(64 * MIB)
        assert memory.family_bytes(us) - before > 60 * MIB


def refuse(path):
    """os.scandir of what only root may read."""
    raise PermissionError(errno.EACCES, "not yours", path)


@linux
def test_a_process_that_cannot_be_read_is_hidden_unless_it_is_bubblewraps_own(monkeypatch):
    us = [psutil.Process()]
    assert not memory.hidden_from_judge(us, set())
    monkeypatch.setattr(memory.os, "scandir", refuse)
    assert memory.hidden_from_judge(us, set())
    assert not memory.hidden_from_judge(us, {os.getpid()})


@linux
def test_a_process_that_has_ended_is_neither_counted_nor_hidden():
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    process = psutil.Process(child.pid)
    child.wait()
    assert not memory.hidden_from_judge([process], set())
    assert memory.family_bytes([process]) == 0


@linux
def test_a_process_that_is_ending_is_not_called_hidden(monkeypatch):
    """For a moment the kernel has let go of its memory, shows its files to root alone, and lists it as
    running: seen where an answer had just crashed and an ordinary user graded it."""
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    try:
        process = psutil.Process(child.pid)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        monkeypatch.setattr(psutil.Process, "status", lambda process: psutil.STATUS_RUNNING)
        monkeypatch.setattr(memory.os, "scandir", refuse)
        assert not memory.hidden_from_judge([process], set())
    finally:
        child.wait()


REFUSED_BY_THE_KERNEL = {
    "shmget": "libc.shmget(0, ctypes.c_size_t(4096), 0o1600)",
    "unshare": "libc.unshare(0x10020000)",
    "setns": "libc.setns(os.open('/proc/self/ns/user', os.O_RDONLY), 0)",
    "mount": "libc.mount(b'tmpfs', b'/tmp', b'tmpfs', 0, None)",
    "clone3": "libc.syscall(435, ctypes.byref((ctypes.c_uint64 * 8)(0x10020000)), 64)",
    "clone, user": "libc.syscall(system_calls.CLONE[platform.machine()], 0x10000011, 0, 0, 0, 0)",
    "clone, mounts": "libc.syscall(system_calls.CLONE[platform.machine()], 0x00020011, 0, 0, 0, 0)",
    "fsopen": "libc.syscall(430, b'tmpfs', 0)",
    "msgget": "libc.msgget(0, 0o1600)",
    "semget": "libc.semget(0, 4, 0o1600)",
    "add_key": "number('add_key', b'user', b'x', b'y' * 9, 9, -3)",
    "io_uring_setup": "number('io_uring_setup', 8, (ctypes.c_uint32 * 64)())",
    "userfaultfd": "number('userfaultfd', 1)",
    "pidfd_getfd": "number('pidfd_getfd', libc.syscall(434, os.getppid(), 0), 0, 0)",
    "ptrace": "libc.ptrace(0, 0, 0, 0)",
    "process_vm_readv": "number('process_vm_readv', os.getpid(), None, 0, None, 0, 0)",
    "prlimit": "libc.prlimit(os.getppid(), 0, None, (ctypes.c_uint64 * 2)())",
    "socket": "libc.socket(1, 1, 0)",
    "socketpair": "libc.socketpair(1, 1, 0, (ctypes.c_int * 2)())",
    "kill": "libc.kill(os.getppid(), 0)",
    "kill, all": "libc.kill(-1, 0)",
    "tgkill": "number('tgkill', os.getppid(), os.getppid(), 0)",
    "rt_sigqueueinfo": "number('rt_sigqueueinfo', os.getppid(), 0, (ctypes.c_uint64 * 16)())",
    "setpriority": "libc.setpriority(0, os.getppid(), 0)",
    "sched_setscheduler": "libc.sched_setscheduler(0, 0, (ctypes.c_int * 1)())",
    "sched_setaffinity": "libc.sched_setaffinity(os.getppid(), 8, (ctypes.c_uint64 * 1)(1))",
    "migrate_pages": "number('migrate_pages', os.getppid(), 8, None, None)",
    "open_by_handle_at": "libc.open_by_handle_at(-100, (ctypes.c_uint64 * 20)(), 0)",
    "bpf": "number('bpf', 0, None, 0)",
    "perf_event_open": "number('perf_event_open', None, 0, -1, -1, 0)",
}
FILTERED = f"""
import sys
sys.path.insert(0, {str(INSIDE)!r})
import ctypes, os, platform, threading, system_calls
known = system_calls.CALLS["refused"] | system_calls.CALLS["own"]
machine = platform.machine()
libc = ctypes.CDLL(None, use_errno=True)
number = lambda name, *rest: libc.syscall(known[name][machine], *rest)
filtered = system_calls.refuse_calls()
"""


@linux
@pytest.mark.parametrize("name", REFUSED_BY_THE_KERNEL)
def test_the_kernel_refuses_memory_of_no_process_and_namespaces(name):
    program = f"{FILTERED}print(filtered, {REFUSED_BY_THE_KERNEL[name]}, ctypes.get_errno())\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    filtered, result, error = done.stdout.split("\n")[0].split()
    if filtered == "False":
        pytest.skip("this processor has no filter in system_calls.KERNEL_NAMES")
    assert (result, int(error)) == ("-1", errno.ENOSYS)


@linux
def test_threads_and_processes_start_behind_the_filter():
    program = FILTERED + (
        "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"  # its own are allowed
        "done = []\n"
        "thread = threading.Thread(target=done.append, args=(1,))\n"
        "thread.start(); thread.join()\n"
        "child = os.fork()\n"
        "os._exit(7) if child == 0 else None\n"
        "print(done, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[1] 7\n"


@linux
def test_empty_files_in_a_folder_in_memory_count_under_bubblewrap(tmp_path, monkeypatch):
    us = psutil.Process()
    states = {"tmp": os.statvfs_result((4096, 4096, 9, 9, 9, 5000, 2000, 2000, 0, 255, 0))}
    monkeypatch.setattr(memory.os, "statvfs", lambda path: states[path.rpartition("/")[2]])
    monkeypatch.setattr(memory, "FOLDERS", ("tmp",))
    in_plain_mode, with_names = memory.family_bytes([us]), memory.family_bytes([us], exempt={1})
    assert with_names - in_plain_mode == pytest.approx(3000 * memory.EMPTY, abs=2 * MIB)
