"""Files that appear whole or not at all, whatever stops the writing: a full disk, a kill, a power failure."""

import os
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # the clone that the package lies in


def write_whole(path: str | os.PathLike, content: bytes, mode: int = 0o666) -> None:
    """Replace the file at path by `content`; on any failure the older file stays as it was.

    The content is written beside the old file, forced to the disk, and then takes the old one's name in one
    step of the file system.  `mode`: who may use the file, less the umask.  Raises OSError, with nothing left
    behind, if the disk or the folder refuses.
    """
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(beside, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):  # if the name itself is refused, there is no such file
            beside.unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a new name last through a power failure; Windows cannot open folders, and need not."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
