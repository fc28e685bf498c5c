"""A learner's own copies of the exercises, in work/.

What somebody wrote is never overwritten. work/.origins.json keeps which exercise each copy came from: where
that exercise has changed since, a copy in which nobody wrote is replaced, one with answers is kept and named.
A lesson with a new number takes its copy along: 08_fused_cell.ipynb becomes 09_fused_cell.ipynb.
"""

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nbjudge.files import ROOT, write_whole
from rnncourse.lab.notebooks import content_hash

ORIGINS = ".origins.json"


@dataclass(frozen=True)
class Copies:
    """Paths in work/: copies made now, replaced by a newer exercise, and kept although theirs has changed.

    renamed: (before, after) where a lesson has a new number.  doubled: copies that keep their old number,
    because the new one is taken by a copy with answers.
    """

    new: list[Path] = field(default_factory=list)
    replaced: list[Path] = field(default_factory=list)
    outdated: list[Path] = field(default_factory=list)
    renamed: list[tuple[Path, Path]] = field(default_factory=list)
    doubled: list[Path] = field(default_factory=list)


def copy_exercises(root: Path = ROOT) -> Copies:
    """Give each exercise a copy in work/, under its number of today, and say what became of the copies.

    Raises FileNotFoundError outside a clone, and OSError with a remedy where a copy cannot be written.
    """
    if not (root / "exercises").is_dir():
        raise FileNotFoundError(f"{root} holds no exercises/: run rnnlab in a clone of the course")
    sources = sorted(root.glob("exercises/*.ipynb"))
    copies = Copies()
    with _origins(root) as origins:  # written before anything is copied: a renamed copy keeps its origin
        for source in sources:
            _renumber(source, root / "work" / source.name, origins, copies)
    with _origins(root) as origins:
        for source in sources:
            _update_copy(source, root / "work" / source.name, origins, copies)
    return copies


def _renumber(source: Path, copy: Path, origins: dict[str, str], copies: Copies) -> None:
    """Let the copy that an exercise had under another number take its number of today.

    It may take the place of a copy in which nobody wrote. A name that no origin knows is the learner's own
    file, and moves only if the exercise has no other copy.
    """
    numbered = copy.parent.glob(f"[0-9][0-9]{source.name[2:]}")
    earlier = [path for path in numbered if path.name != copy.name and path.is_file()]
    for old in sorted(earlier, key=lambda path: (path.name in origins, path.stat().st_mtime), reverse=True):
        if not copy.exists() or (old.name in origins and _is_blank(copy, source, origins)):
            with _with_remedy(copy):
                old.replace(copy)
            origins.pop(copy.name, None)
            if old.name in origins:
                origins[copy.name] = origins.pop(old.name)
            copies.renamed.append((old, copy))
        elif origins.get(old.name, content_hash(old.read_bytes())) != content_hash(old.read_bytes()):
            copies.doubled.append(old)


def _is_blank(copy: Path, source: Path, origins: dict[str, str]) -> bool:
    """Whether nobody wrote in the copy."""
    return content_hash(copy.read_bytes()) in (origins.get(copy.name), content_hash(source.read_bytes()))


def _update_copy(source: Path, copy: Path, origins: dict[str, str], copies: Copies) -> None:
    """Make, replace or leave one copy; its origin is the exercise of today unless it is outdated.

    A copy from a time without origins is taken for one of today's exercise.
    """
    exercise = source.read_bytes()
    today = content_hash(exercise)
    origin = origins.setdefault(copy.name, today) if copy.exists() else None
    if origin is None:
        _write(copy, exercise)
        copies.new.append(copy)
    elif origin != today:
        content = content_hash(copy.read_bytes())
        if content not in (origin, today):
            copies.outdated.append(copy)
            return
        if content == origin:
            _write(copy, exercise)
            copies.replaced.append(copy)
    origins[copy.name] = today


@contextmanager
def _origins(root: Path) -> Iterator[dict[str, str]]:
    """{name of a copy: hash of the exercise that it came from}; changes are written at the end."""
    origins = _read_origins(root)
    before = dict(origins)
    yield origins
    if origins != before:
        _write(root / "work" / ORIGINS, json.dumps(origins, indent=1).encode())


def _read_origins(root: Path) -> dict[str, str]:
    """{name of a copy: hash of the exercise that it came from}; empty where nothing is known."""
    try:
        origins = json.loads((root / "work" / ORIGINS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return origins if isinstance(origins, dict) else {}


def _write(target: Path, content: bytes) -> None:
    with _with_remedy(target):
        target.parent.mkdir(exist_ok=True)
        write_whole(target, content)  # a half copy would never be made good


@contextmanager
def _with_remedy(target: Path) -> Iterator[None]:
    """Adds to an OSError what a learner can do about it."""
    try:
        yield
    except OSError as error:
        remedy = "free some space" if error.errno == errno.ENOSPC else f"make {target.parent} writable"
        message = f"cannot make your copy {target} ({error.strerror}): {remedy}, then start again"
        raise type(error)(error.errno, message) from None
