"""What the commands of a class wrote for people to read, so that none replaces what somebody changed since.

exported.json in the class folder has, for each file by its path from there, the digests of what was to be
written and of what was there before: a command that is killed leaves one or the other.  It also has the
places in gradebooks of nbgrader that an export filled, with what it wrote there.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from nbjudge.classroom.commands import written
from nbjudge.files import write_whole
from nbjudge.finding.notebook_file import Unusable

RECORD = "exported.json"


def write_files(folder: Path | None, files: Mapping[Path, bytes], overwrite: bool = False) -> None:
    """Write files that people may edit, and remember in the class folder what was written.

    Raises Unusable, before anything is written, where one is there already and was changed since, or is of
    unknown origin, unless `overwrite`.
    """
    keys = {path: os.path.relpath(path, folder) for path in files}
    with record_of(folder) if folder else nullcontext({}) as record:
        present = {path: path.read_bytes() if path.is_file() else b"" for path in files}
        changed = [path for path in files if _is_changed(present[path], files[path], record.get(keys[path]))]
        if changed and not overwrite:
            names = ", ".join(map(str, changed))
            raise Unusable(
                "nothing was written: move these files away, name another place, or replace them with "
                f"--overwrite. They were changed since the last export, or come from elsewhere: {names}."
            )
        for path, content in files.items():
            record[keys[path]] = f"{_digest(content)} {_digest(present[path])}"
    for path, content in files.items():
        written(path, partial(_write, path, content))


def _is_changed(present: bytes, content: bytes, known: object) -> bool:
    """Whether a file is neither empty, nor the new content, nor what these digests are of."""
    return present not in (b"", content) and _digest(present) not in str(known)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, content)


@contextmanager
def record_of(folder: Path) -> Iterator[dict]:
    """The record of a class, to change; it is saved at the end, and another command waits until then.

    Empty if it is missing or damaged: then all that is there counts as changed.
    """
    from filelock import FileLock

    path = folder / RECORD
    with FileLock(folder / "exported.lock", mode=0o600):
        try:
            record = dict(json.loads(path.read_bytes()))
        except (FileNotFoundError, ValueError, TypeError):
            record = {}
        yield record
        written(path, lambda: write_whole(path, json.dumps(record, indent=1).encode()))
