"""What the commands of a class wrote for people to read, so that none replaces what somebody changed since.

exported.json in the class folder has, for each file by its path from there, the digests of what was to be
written and of what was there before: a command that is killed leaves one or the other.  It also has the
places in gradebooks of nbgrader that an export filled, each with the values that may stand there.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path

from nbjudge.classroom.commands import say, written
from nbjudge.classroom.export_tables import Table, values_of
from nbjudge.files import write_whole
from nbjudge.finding.notebook_file import Unusable

RECORD = "exported.json"


def write_files(folder: Path | None, files: Mapping[Path, bytes | Table], overwrite: bool = False) -> None:
    """Write files that people may edit, and remember in the class folder what was written.

    Raises Unusable, before anything is written, where one is there already and was changed since, or is of
    unknown origin, unless `overwrite`.  A table that a spreadsheet has saved again is not changed.
    """
    contents = {path: file.to_bytes() if isinstance(file, Table) else file for path, file in files.items()}
    with record_of(folder) as record:
        changed = []
        for path, content in contents.items():
            meaning = values_of if isinstance(files[path], Table) else bytes
            present = path.read_bytes() if path.is_file() else b""
            old = _digest(meaning(present))
            new = _digest(meaning(content))
            name = os.path.relpath(path, folder)
            if present and old not in f"{new} {record.get(name)}":
                changed.append(str(path))
            record[name] = f"{new} {old}"
        if changed and not overwrite:
            raise Unusable(
                "nothing was written: move these files away, name another place, or replace them with "
                "--overwrite. They were changed since the last export, or come from elsewhere: "
                f"{', '.join(changed)}."
            )
    for path, content in contents.items():
        written(path, partial(_write, path, content))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, content)


class Record(dict):
    """What was exported, by its place; nothing is kept without a file for it."""

    file: Path | None = None

    def save(self) -> None:
        if self.file:
            written(self.file, lambda: write_whole(self.file, json.dumps(self, indent=1).encode()))


@contextmanager
def record_of(folder: Path | None) -> Iterator[Record]:
    """The record of a class, to change; it is saved at the end, and another command waits until then.

    Empty if it is missing or damaged: then all that is there counts as changed.  Of a folder that may not be
    written it is read alone, and the command says so.
    """
    from filelock import FileLock

    lock = nullcontext()
    record = Record()
    if folder and os.access(folder, os.W_OK):
        lock = FileLock(folder / "exported.lock", mode=0o600)
        record.file = folder / RECORD
    elif folder:
        remedy = "a later export replaces the files of this one with --overwrite alone"
        say(f"{folder} may not be written, so nothing is remembered there: {remedy}.")
    with lock:
        if folder:
            with suppress(FileNotFoundError, ValueError, TypeError):
                record |= json.loads((folder / RECORD).read_bytes())
        yield record
        record.save()
