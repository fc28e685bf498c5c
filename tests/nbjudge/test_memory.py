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


@linux
def test_a_process_that_cannot_be_read_is_hidden_unless_it_is_bubblewraps_own(monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "not yours", path)

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
def test_a_segment_that_belongs_to_no_process_is_refused_by_the_kernel():
    program = (
        f"import sys; sys.path.insert(0, {str(INSIDE)!r}); import ctypes, system_calls\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "refused = system_calls.refuse_segments()\n"
        "segment = libc.shmget(0, ctypes.c_size_t(4096), 0o1600)\n"
        "print(refused, segment, ctypes.get_errno())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    refused, segment, error = done.stdout.split()
    if refused == "False":
        pytest.skip("this processor has no filter in system_calls.ARCHITECTURES")
    assert (segment, int(error)) == ("-1", errno.ENOSYS)
