"""Checkpoint files that are complete after a kill at any moment, and in which each damaged byte is detected.

A checkpoint is written beside the old one, and then takes its name. A line with the SHA-256 of the rest
stands at its head; the rest is an npz file without pickles.
"""

import errno
import hashlib
import io
import os
from contextlib import suppress
from pathlib import Path

import numpy as np

MAGIC = b"rnnlab checkpoint 1 "

REMEDY = {
    errno.ENOSPC: "the disk is full: free some space",
    errno.EDQUOT: "your disk quota is used up: free some space",
    errno.EFBIG: "the file would be larger than this process may write: raise the limit (ulimit -f)",
    errno.EACCES: "there is no permission to write there: choose another directory",
    errno.EPERM: "there is no permission to write there: choose another directory",
    errno.EROFS: "that file system is read-only: choose another directory",
    errno.ENOENT: "its directory does not exist: make it first",
    errno.ENOTDIR: "a part of its path is a file, not a directory: choose another directory",
    errno.EISDIR: "that is a directory: add a file name",
}


def save(path: str | os.PathLike, arrays: dict[str, np.ndarray]) -> None:
    """Replace the checkpoint at path by one with `arrays`, of any shape; on any failure the old one stays.

    Raises OSError, with a remedy, if the file cannot be written.
    """
    try:
        _replace(Path(path), _packed(arrays))
    except OSError as error:
        remedy = REMEDY.get(error.errno, "choose another place")
        message = (
            f"the checkpoint {path} could not be written ({error.strerror}); {remedy}. "
            "An earlier checkpoint, if there was one, is unchanged"
        )
        raise OSError(error.errno, message) from error


def load(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The arrays that `save` wrote, weights [G*H,I] and others.  Raises ValueError if a byte has changed."""
    file = Path(path)
    if file.exists() and not file.is_file():  # reading a device or a pipe may never end
        raise ValueError(f"the checkpoint {path} is a directory, a device or a pipe: choose a file")
    head, _, body = file.read_bytes().partition(b"\n")
    if not head.startswith(MAGIC[:-2]):
        raise ValueError(f"{path} is not a checkpoint of rnnlab: choose another file, or delete this one")
    if head != MAGIC + _digest(body):
        raise ValueError(
            f"the checkpoint {path} is damaged, or cut short, or of another version of rnnlab: "
            "delete it to start training anew, or put back a copy"
        )
    with np.load(io.BytesIO(body), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _replace(path: Path, content: bytes) -> None:
    """Write a new file beside the old one, to the disk, and give it the old one's name in one step."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        with suppress(OSError):  # where the name itself is refused
            beside.unlink(missing_ok=True)


def _packed(arrays: dict[str, np.ndarray]) -> bytes:
    archive = io.BytesIO()
    np.savez(archive, **arrays)
    body = archive.getvalue()
    return MAGIC + _digest(body) + b"\n" + body


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()
