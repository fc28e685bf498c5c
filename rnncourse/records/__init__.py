"""Measurements that were really made, each with where, when and by what: JSON files in `measured/`.

Only `rnnlab bench … --record` writes them; pages, lessons and pictures read them.  Every record has

    schema      1
    kind        which benchmark: "bench cpu", …; the module that measures it documents its further fields
    complete    false while it is being measured
    date        when it was begun, ISO 8601, UTC
    commit      of the checkout; `changed` names measured files that differ from it, or is null where there is
                no git to say so; `commit_from` says who named the commit
    code        sha256 over all measured files
    machine     processor, cores, caches, memory, operating system
    settings    options of the benchmark
    digest      sha256 over everything else: an edited record is not a measurement
"""

import hashlib
import json
import re
from pathlib import Path

from nbjudge.files import write_whole
from nbjudge.printable import quantity

MEASURED = Path(__file__).with_name("measured")
SCHEMA = 1
NEEDED = {"kind", "complete", "date", "commit", "changed", "code", "machine", "settings"}
RENAMED = {"halide_scheduled": "halide"}  # contestants in older records -> today's names


def write(path: Path, record: dict) -> None:
    """Put the record there, whole or not at all, also where the machine stops in the middle."""
    if lacking := NEEDED - record.keys():
        raise ValueError(f"the record lacks {', '.join(sorted(lacking))}")
    record = {"schema": SCHEMA} | record
    signed = record | {"digest": digest(record)}
    text = json.dumps(signed, indent=1, ensure_ascii=False)
    # lists of plain numbers or words take one line, however long: a record is for people too
    text = re.sub(r"\[[^][{}]*\]", lambda matches: re.sub(r"\n\s*", " ", matches[0]), text)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, f"{text}\n".encode())


def read(path: Path) -> dict:
    """The record in that file, with today's names.  Raises ValueError if it is damaged or was edited."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path.name} is damaged: {error}") from error
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise ValueError(f"{path.name} is not a record of schema {SCHEMA}")
    if lacking := (NEEDED | {"digest"}) - record.keys():
        raise ValueError(f"{path.name} is damaged: it lacks {', '.join(sorted(lacking))}")
    if record["digest"] != digest(record):
        raise ValueError(f"{path.name} was changed after it was measured: its digest is another")
    return _with_new_names(record)


def digest(record: dict) -> str:
    """sha256 over a record without its digest."""
    rest = {key: value for key, value in record.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def origin(record: dict) -> str:
    """The code that was measured, in words: a commit, and whether the files were those of that commit."""
    commit = record["commit"][:12] or "unknown"
    changed = record["changed"]
    if changed is None:
        source = record.get("commit_from", "nothing")
        return f"commit {commit}, named by {source}; no git to say what was changed"
    changes = f" with changes in {quantity(len(changed), 'file')}" if changed else ""
    return f"commit {commit}{changes}"


def place(record: dict, folder: Path | None = None) -> Path:
    """Where a record belongs: named by kind, minute and processor or GPU; one not complete by kind only."""
    kind = _slug(record["kind"])
    folder = folder or MEASURED
    if not record["complete"]:
        return folder / f"{kind}.partial.json"  # git ignores it
    minute = record["date"][:16].replace(":", "")  # a second record of one day replaces no other
    machine = record["machine"]
    measured = machine["gpu"]["name"] if "gpu" in machine else machine["processor"]
    return folder / f"{kind}_{minute}_{_slug(measured)}.json"


def stored(kind: str | None = None, folder: Path | None = None) -> list[Path]:
    """Files of complete records, of one kind or of all, oldest first."""
    start = f"{_slug(kind)}_" if kind else ""
    files = []
    for path in (folder or MEASURED).glob(f"{start}*.json"):
        if not path.name.endswith(".partial.json"):
            files.append(path)
    return sorted(files, key=_minute)


def find(name: str, folder: Path | None = None) -> Path:
    """The one record whose file's name contains `name`.  Raises ValueError where none does, or several do."""
    known = {path.stem: path for path in stored(folder=folder)}
    if name in known:
        return known[name]
    matches = [stem for stem in known if name in f"{stem}.json"]
    if len(matches) != 1:
        count = "several" if matches else "no"
        names = ", ".join(matches or known) or "none at all"
        raise ValueError(f"{count} records are called {name!r}; there are {names}")
    return known[matches[0]]


def _minute(path: Path) -> tuple[str, str]:
    matches = re.search(r"\d{4}-\d\d-\d\dT\d{4}", path.name)
    return (matches[0] if matches else "", path.name)


def _slug(text: str) -> str:
    without_marks = re.sub(r"\((r|tm)\)", "", text.lower())
    words = re.findall(r"[a-z0-9]+", without_marks)
    return "_".join(words)


def _with_new_names(record: dict) -> dict:
    """The record with the names in RENAMED replaced, but not in paths of files."""
    text = json.dumps(record)
    for old, new in RENAMED.items():
        text = re.sub(rf"(?<![/\w]){old}\b", new, text)
    return json.loads(text)
