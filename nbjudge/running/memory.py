"""Memory of a family of processes together: what each has for itself, and what lies in files in memory.

A process can put gigabytes where its own resident size does not show them: into a memfd that it writes and
never maps, or into shared memory that it maps in one process and fills in another. Each such file counts
once, whoever holds it. Under bubblewrap all file systems that an answer may write are small besides; the
number of their files is not limited, and the kernel keeps memory for an empty one, too. Memory that belongs
to no process, a segment or the buffer of a socket, is refused (inside/system_calls.py).
"""

import os
import stat
import sys
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress

import psutil

IN_MEMORY = "/memfd:", "/dev/zero", "/SYSV", "/dev/shm/"  # how the kernel names such files
NAMES = tuple(map(str.encode, IN_MEMORY))
BLOCK = 512  # bytes of st_blocks' unit
EMPTY = 4096  # bytes that a file or folder counts, however empty: the kernel keeps about 1,000
FOLDERS = "tmp", "dev/shm"  # in memory, where bubblewrap lets an answer write

File = tuple[int, int]  # device and inode


def family_bytes(members: Iterable[psutil.Process], exempt: Container[int] = (), limit: int = 0) -> int:
    """Bytes of private memory and of files in memory, of all these processes together.

    exempt: bubblewrap's own processes, whose files are not looked at. limit: where not even all that is
    mapped, private or not, would exceed so many bytes, that larger sum: maps are long to read."""
    private = 0
    mapped = 0
    pids = []
    shared = defaultdict(int)
    for process in members:
        with suppress(psutil.Error):
            size = process.memory_info()
            private += size.rss - getattr(size, "shared", 0)  # only Linux tells them apart
            mapped += size.vms
        if sys.platform == "linux" and process.pid not in exempt:
            pids.append(process.pid)
            _hold(shared, _open_files(process.pid))
    if exempt:
        private += (names := _bytes_of_names(pids))
        mapped += names
    if pids and (most := mapped + sum(shared.values())) <= limit:
        return most
    for pid in pids:
        _hold(shared, _mapped_files(pid).items())
    return private + sum(shared.values())


def _hold(shared: dict[File, int], files: Iterable[tuple[File, int]]) -> None:
    """Note the largest extent of each file."""
    for file, extent in files:
        shared[file] = max(shared[file], extent)


def hidden_from_judge(members: Iterable[psutil.Process], exempt: set[int]) -> bool:
    """Has a process made itself unreadable, so that its files in memory cannot be counted?"""
    for process in members:
        if sys.platform != "linux" or process.pid in exempt:
            continue
        try:
            os.scandir(f"/proc/{process.pid}/fd").close()
        except PermissionError:
            if has_memory(process):  # one that is ending cannot be read either
                return True
        except OSError:
            continue  # it has ended
    return False


def has_memory(process: psutil.Process) -> bool:
    """Does the process live, and is not about to end? Memory is the first that the kernel takes back."""
    with suppress(psutil.Error):
        return process.memory_info().vms > 0
    return False


def _bytes_of_names(pids: Iterable[int]) -> int:
    """Bytes of all files in FOLDERS without their content, as one of these processes sees them."""
    for pid in pids:
        with suppress(OSError):
            states = [os.statvfs(f"/proc/{pid}/root/{folder}") for folder in FOLDERS]
            return EMPTY * sum(state.f_files - state.f_ffree for state in states)
    return 0


def _open_files(pid: int) -> Iterator[tuple[File, int]]:
    """Files in memory that a process has open, with what they hold; files without a name too."""
    with suppress(OSError):  # it has ended, or this user may not look
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                status = os.stat(entry.path)
                path = os.readlink(entry.path)
                nameless = status.st_nlink == 0 or path.startswith(IN_MEMORY)
                if stat.S_ISREG(status.st_mode) and nameless:
                    yield (status.st_dev, status.st_ino), status.st_blocks * BLOCK


def _mapped_files(pid: int) -> dict[File, int]:
    """Files in memory that a process has mapped, with the size of the mapping."""
    sizes = defaultdict(int)
    with suppress(OSError), open(f"/proc/{pid}/maps", "rb") as file:
        content = file.read()
        text = content.decode(errors="replace") if any(map(content.__contains__, NAMES)) else ""  # be quick
        for line in text.split("\n")[:-1]:
            addresses, _, _, device, inode, *path = line.split(maxsplit=5)
            if path and path[0].startswith(IN_MEMORY):
                start, end = (int(address, 16) for address in addresses.split("-"))
                major, minor = (int(part, 16) for part in device.split(":"))
                sizes[os.makedev(major, minor), int(inode)] += end - start
    return sizes
