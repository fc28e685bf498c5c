"""The lock of a class folder: one process grades at a time."""

import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbjudge.finding.notebook_file import Unusable
from nbjudge.printable import printable


@contextmanager
def lock(folder: Path, wait: bool = False) -> Iterator[None]:
    """Hold the class folder alone.

    Raises Unusable where it cannot be written, or another process holds it, unless `wait`. A killed process
    holds nothing.
    """
    if not folder.is_dir():
        raise Unusable(f"there is no class folder {folder}: begin with rnnlab class collect.")
    handle = _opened(folder / "lock")
    try:
        _hold(handle, folder, wait)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} on {os.uname().nodename}".encode(), 0)
        yield
    finally:
        os.close(handle)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unusable(
            f"{path.parent} cannot be written ({error.strerror}): copy it to where you may write, or change "
            "its permissions."
        ) from None


def _hold(handle: int, folder: Path, wait: bool) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        busy = f"{folder} is in use by {_holder(handle)}"
        if not wait:
            sentence = f"{busy}: wait for its end, or let class grade wait with --wait."
            raise Unusable(sentence) from None
        print(printable(f"{busy}: waiting for its end"), file=sys.stderr, flush=True)
        fcntl.flock(handle, fcntl.LOCK_EX)


def _holder(handle: int) -> str:
    return os.pread(handle, 200, 0).decode(errors="replace") or "another process"


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a class folder that is not there yet; take it away again if nothing came of it."""
    is_new = not folder.exists()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Unusable(f"the class folder {folder} cannot be made: {error.strerror}") from None
    try:
        yield
    except BaseException:
        if is_new and not (folder / "submissions.jsonl").exists():
            shutil.rmtree(folder)
        raise
