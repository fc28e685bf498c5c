"""A checkpoint is whole or it is not there: it survives a kill at any moment and notices every damaged byte.

The new file is written beside the old one, forced to the disk, and then takes the old one's name in one step
of the file system. A line with the SHA-256 of the rest stands at its head; the rest is an npz file without
pickles.
"""

import errno
import hashlib
import io
import os
from pathlib import Path

import numpy as np

MAGIC = b"rnnlab checkpoint 1 "
DIGEST_SIZE = 64  # hexadecimal digits of a SHA-256

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
    """Replaces the checkpoint at path by one that holds `arrays`; on any failure the old one stays."""
    path = Path(path)
    content = _packed(arrays)
    # a fixed name: what a kill leaves half-written is overwritten by the next one, and does not pile up
    new = path.with_name(path.name + ".new")
    try:
        _write_through(new, content)
        os.replace(new, path)
        _write_through_directory(path.parent)
    except OSError as error:
        new.unlink(missing_ok=True) if new.is_file() else None
        remedy = REMEDY.get(error.errno, "choose another place")
        message = f"the checkpoint {path} could not be written ({error.strerror}); {remedy}. "
        raise OSError(
            error.errno, message + "An earlier checkpoint, if there was one, is unchanged"
        ) from error


def load(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The arrays that `save` wrote; ValueError if a byte of the file is not as it was written."""
    content = Path(path).read_bytes()
    head, _, body = content.partition(b"\n")
    if not head.startswith(MAGIC[:-2]):
        raise ValueError(f"{path} is not a checkpoint of rnnlab: choose another file, or delete this one")
    if head != MAGIC + _digest(body):
        raise ValueError(
            f"the checkpoint {path} is damaged, or cut short, or of another version of rnnlab: "
            "delete it to start training anew, or put back a copy"
        )
    with np.load(io.BytesIO(body), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _packed(arrays: dict[str, np.ndarray]) -> bytes:
    body = io.BytesIO()
    np.savez(body, **arrays)
    return MAGIC + _digest(body.getvalue()) + b"\n" + body.getvalue()


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def _write_through(path: Path, content: bytes) -> None:
    """The file's content, on the disk and not only on its way there."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _write_through_directory(directory: Path) -> None:
    """Makes the new name last through a power failure; Windows cannot open directories, and need not."""
    if os.name != "posix":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
