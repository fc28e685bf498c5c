"""A learner's own copies of the exercises, in work/.

What somebody wrote is never overwritten. work/.origins.json keeps which exercise each copy came from: where
that exercise has changed since, a copy in which nobody wrote is replaced, one with answers is kept and named.
"""

import errno
import json
from dataclasses import dataclass, field
from pathlib import Path

from rnnlab.files import ROOT, write_whole
from rnnlab.lab.notebooks import written

ORIGINS = ".origins.json"


@dataclass(frozen=True)
class Copies:
    """Paths in work/: copies made now, replaced by a newer exercise, and kept although theirs has changed."""

    new: list[Path] = field(default_factory=list)
    replaced: list[Path] = field(default_factory=list)
    outdated: list[Path] = field(default_factory=list)


def copy_exercises(root: Path = ROOT) -> Copies:
    """Give each exercise a copy in work/, and say which copies are new, replaced or outdated.

    Raises FileNotFoundError outside a clone, and OSError with a remedy where a copy cannot be written.
    """
    if not (root / "exercises").is_dir():
        raise FileNotFoundError(f"{root} holds no exercises/: run rnnlab in a clone of the course")
    before, copies = _read_origins(root), Copies()
    origins = dict(before)
    for source in sorted(root.glob("exercises/*.ipynb")):
        _see_to(source, root / "work" / source.name, origins, copies)
    if origins != before:
        _write(root / "work" / ORIGINS, json.dumps(origins, indent=1).encode())
    return copies


def _see_to(source: Path, copy: Path, origins: dict[str, str], copies: Copies) -> None:
    """Make, replace or leave one copy; its origin is the exercise of today unless it is outdated.

    A copy from a time without origins is taken for one of today's exercise.
    """
    exercise = source.read_bytes()
    today = written(exercise)
    origin = origins.setdefault(copy.name, today) if copy.exists() else None
    if origin is None:
        _write(copy, exercise)
        copies.new.append(copy)
    elif origin != today:
        content = written(copy.read_bytes())
        if content not in (origin, today):
            copies.outdated.append(copy)
            return
        if content == origin:
            _write(copy, exercise)
            copies.replaced.append(copy)
    origins[copy.name] = today


def _read_origins(root: Path) -> dict[str, str]:
    """{name of a copy: number of the exercise that it came from}; empty where nothing is known."""
    try:
        origins = json.loads((root / "work" / ORIGINS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return origins if isinstance(origins, dict) else {}


def _write(target: Path, content: bytes) -> None:
    try:
        target.parent.mkdir(exist_ok=True)
        write_whole(target, content)  # a half copy would never be made good
    except OSError as error:
        remedy = "free some space" if error.errno == errno.ENOSPC else f"make {target.parent} writable"
        message = f"cannot make your copy {target} ({error.strerror}): {remedy}, then start again"
        raise type(error)(error.errno, message) from None
