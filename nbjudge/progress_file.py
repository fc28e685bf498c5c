"""What a learner has done, in one SQLite file on this machine: last and best verdict, tries, hints opened.

Every change is one transaction, so that a crash loses at most the change it hits, and two notebooks may write
at once. The rollback journal is kept, not a write-ahead log: home directories on a network share cannot hold
one. A file that cannot be written costs a warning, never a verdict; a damaged one is moved aside and begun
anew; one that a newer version has written is left alone.
"""

import os
import sqlite3
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from nbjudge.course import current
from nbjudge.verdict import Status, Verdict

BUSY = 5.0  # seconds to wait for another notebook's transaction
VERSION = 1  # of the tables below; a file of a later one may mean other things by the same names
DAMAGED = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
TABLES = """
CREATE TABLE IF NOT EXISTS verdicts (name TEXT PRIMARY KEY, unit TEXT, status TEXT, misconception TEXT,
    passed INTEGER, points INTEGER, tries INTEGER);
CREATE TABLE IF NOT EXISTS hints (name TEXT PRIMARY KEY, opened INTEGER);
"""
RECORD = """
INSERT INTO verdicts (name, unit, status, misconception, passed, points, tries)
VALUES (:name, :unit, :status, :misconception, :passed, :points, 1)
ON CONFLICT (name) DO UPDATE SET status = :status, misconception = :misconception,
    passed = max(cast(coalesce(passed, 0) AS INTEGER), :passed),
    points = max(cast(coalesce(points, 0) AS INTEGER), :points),
    tries = cast(coalesce(tries, 0) AS INTEGER) + 1
"""
OPEN_HINT = """
INSERT INTO hints (name, opened) VALUES (?, 1)
ON CONFLICT (name) DO UPDATE SET opened = cast(coalesce(opened, 0) AS INTEGER) + 1 RETURNING opened
"""


class ProgressEntry(NamedTuple):
    """One exercise in the progress file: its last status, and whether it ever passed."""

    status: Status
    misconception: str | None
    passed: bool
    points: int
    tries: int


def home() -> Path:
    """Where the course keeps its own files: its variable COURSE_HOME, or the platform's place for such data.

    A user without a home, as in some containers, has a folder below the temporary one.
    """
    if chosen := os.environ.get(_variable()):
        return Path(chosen).absolute()
    try:
        return _platforms_home()
    except RuntimeError:  # no HOME, and nobody knows this user
        return _temporary_home()


def _variable() -> str:
    return f"{current().settings_prefix}HOME"


def _temporary_home() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"{current().command}-{user}"


def _platforms_home() -> Path:
    name = current().command
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / name
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / name
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / name


def record(lesson: str, verdict: Verdict) -> None:
    """Store a verdict. Untouched exercises do not count as attempts."""
    if verdict.status is Status.not_attempted:
        return
    values = {
        "name": verdict.name,
        "unit": lesson,
        "status": str(verdict.status),
        "misconception": verdict.misconception,
    }
    with _warn_instead_of_raising("this verdict"), _database() as database:
        database.execute(RECORD, values | {"passed": verdict.passed, "points": verdict.points})


def open_hint(name: str, otherwise: int) -> int:
    """Count one more hint of an exercise as opened; how many are open, or `otherwise` if the file cannot be
    used."""
    with _warn_instead_of_raising("how many hints are open"), _database() as database:
        return database.execute(OPEN_HINT, (name,)).fetchone()[0]
    return otherwise


def entries() -> dict[str, ProgressEntry]:
    """What is known of each exercise that was tried, by name. Rows that make no sense are left out."""
    with _warn_instead_of_raising("what was done before"), _database() as database:
        rows = database.execute("SELECT name, status, misconception, passed, points, tries FROM verdicts")
        return {row[0]: entry for row in rows if (entry := _entry(*row[1:])) and type(row[0]) is str}
    return {}


def _entry(status, misconception, *numbers) -> ProgressEntry | None:
    """One row; whatever is not a whole number counts as 0."""
    if status not in list(Status):
        return None
    passed, points, tries = (number if type(number) is int and number > 0 else 0 for number in numbers)
    return ProgressEntry(Status(status), misconception, bool(passed), points, tries)


@contextmanager
def _database() -> Iterator[sqlite3.Connection]:
    """A transaction on the progress file."""
    path = home() / "progress.sqlite"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.parent == _temporary_home() and not _is_ours(path.parent):
        raise PermissionError(f"{path.parent} was made by another user")
    _heal(path)
    with closing(sqlite3.connect(path, timeout=BUSY)) as database:
        database.text_factory = lambda text: text.decode(errors="replace")
        if database.execute("PRAGMA user_version").fetchone()[0] > VERSION:
            newer = f"a newer {current().command} has written {path}"
            raise sqlite3.DatabaseError(f"{newer}: update this one, or move the file away")
        database.executescript(TABLES)
        with database:
            yield database


def _is_ours(folder: Path) -> bool:
    state = folder.lstat()
    return stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid()


def _heal(path: Path) -> None:
    """Move a damaged file aside, so that progress is kept again from now on."""
    try:
        with closing(sqlite3.connect(path, timeout=BUSY)) as database:
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (state,) = database.execute("PRAGMA quick_check(1)").fetchone()
        reason = None if state == "ok" else state
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", None) not in DAMAGED:
            raise
        reason = str(error)
    if reason:
        aside = path.with_name(f"progress.damaged-{time.strftime('%Y%m%d-%H%M%S')}.sqlite")
        os.replace(path, aside)
        damage = f"{path} is damaged ({reason}), kept as {aside}."
        warnings.warn(f"{current().command} begins your progress anew: {damage}", stacklevel=6)


@contextmanager
def _warn_instead_of_raising(what: str) -> Iterator[None]:
    """One line of warning if the file cannot be used; `what` is then not stored."""
    try:
        yield
    except (OSError, sqlite3.Error, ValueError) as error:
        remedy = f"Set {_variable()} to a folder you may write, or move {home()} away."
        failure = f"could not keep {what} in {home()}: {error}."
        warnings.warn(f"{current().command} {failure} {remedy}", stacklevel=4)
