"""What the commands of a class wrote for people to read, so that none replaces what somebody changed since.

exported.json in the class folder has, for each file by its path from there, the digests of its last two
contents: a command that is killed has written one or the other.  It also has the places in gradebooks of
nbgrader that an export filled, with what it wrote there.
"""

import hashlib
import json
import os
from collections.abc import Mapping
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
    record = load(folder) if folder else {}
    keys = {path: os.path.relpath(path, folder) for path in files}
    changed = [path for path in files if _is_changed(path, files[path], record.get(keys[path], ""))]
    if changed and not overwrite:
        names = ", ".join(map(str, changed))
        raise Unusable(
            "nothing was written: move what stands there away, name another place, or replace it with "
            f"--overwrite. These files were changed since the last export, or come from elsewhere: {names}."
        )
    for path, content in files.items():
        record[keys[path]] = " ".join([_digest(content), *record.get(keys[path], "").split()[:1]])
    if folder:
        save(folder, record)
    for path, content in files.items():
        written(path, partial(_write, path, content))


def _is_changed(path: Path, content: bytes, known: str) -> bool:
    """Whether a file is there that is neither empty, nor the new content, nor one of these digests."""
    present = path.read_bytes() if path.is_file() else b""
    return present not in (b"", content) and _digest(present) not in known


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, content)


def load(folder: Path) -> dict:
    """The record of a class; empty if it is missing or damaged: then all that is there counts as changed."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def save(folder: Path, record: Mapping) -> None:
    """Write the record of a class, whole."""
    path = folder / RECORD
    written(path, lambda: write_whole(path, json.dumps(record, indent=1, ensure_ascii=False).encode()))
