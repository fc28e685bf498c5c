"""What a learner has done, in one SQLite file on this machine: last and best verdict, tries, hints opened.

Every change is one transaction, so that a crash loses at most the change it hits, and two notebooks may write
at once. The rollback journal is kept, not a write-ahead log: home directories on a network share cannot hold
one. A file that cannot be written costs a warning, never a verdict.
"""

import os
import sqlite3
import sys
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from rnnlab.grading.verdict import Status, Verdict

BUSY = 5.0  # seconds to wait for another notebook's transaction
TABLES = """
CREATE TABLE IF NOT EXISTS verdicts (name TEXT PRIMARY KEY, unit TEXT, status TEXT, misconception TEXT,
    passed INTEGER, points INTEGER, tries INTEGER);
CREATE TABLE IF NOT EXISTS hints (name TEXT PRIMARY KEY, opened INTEGER);
"""
RECORD = """
INSERT INTO verdicts VALUES (:name, :unit, :status, :misconception, :passed, :points, 1)
ON CONFLICT (name) DO UPDATE SET status = :status, misconception = :misconception,
    passed = max(passed, :passed), points = max(points, :points), tries = tries + 1
"""
OPEN_HINT = """
INSERT INTO hints VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET opened = opened + 1 RETURNING opened
"""


class Entry(NamedTuple):
    """One exercise in the progress file: its last status, and whether it ever passed."""

    status: Status
    misconception: str | None
    passed: bool
    points: int
    tries: int


def home() -> Path:
    """Where the course keeps its own files: RNNLAB_HOME, or the platform's place for a program's data."""
    if chosen := os.environ.get("RNNLAB_HOME"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "rnnlab"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "rnnlab"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "rnnlab"


def record(unit: str, verdict: Verdict) -> None:
    """Keep a verdict. An untouched exercise is no try."""
    if verdict.status is Status.not_attempted:
        return
    values = {
        "name": verdict.name,
        "unit": unit,
        "status": str(verdict.status),
        "misconception": verdict.misconception,
    }
    with _kept("this verdict"), _database() as database:
        database.execute(RECORD, values | {"passed": verdict.passed, "points": verdict.points})


def open_hint(name: str, otherwise: int) -> int:
    """Count one more hint of an exercise as opened, and say how many are; `otherwise` if that cannot be
    kept."""
    opened = otherwise
    with _kept("how many hints are open"), _database() as database:
        opened = database.execute(OPEN_HINT, (name,)).fetchone()[0]
    return opened


def entries() -> dict[str, Entry]:
    """What is known of each exercise that was tried, by name."""
    found: dict[str, Entry] = {}
    with _kept("what was done before"), _database() as database:
        rows = database.execute("SELECT name, status, misconception, passed, points, tries FROM verdicts")
        found = {
            name: Entry(Status(status), wrong, bool(passed), *rest)
            for name, status, wrong, passed, *rest in rows
        }
    return found


@contextmanager
def _database() -> Iterator[sqlite3.Connection]:
    """A transaction on the progress file."""
    path = home() / "progress.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=BUSY)) as database:
        database.executescript(TABLES)
        with database:
            yield database


@contextmanager
def _kept(what: str) -> Iterator[None]:
    """A file that cannot be used costs one line of warning."""
    try:
        yield
    except (OSError, sqlite3.Error, ValueError) as error:
        warnings.warn(
            f"rnnlab could not keep {what} in {home()}: {error}. Set RNNLAB_HOME to a folder you may write.",
            stacklevel=4,
        )
