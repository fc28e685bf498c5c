"""Which student a file of a download belongs to, by the names that Moodle, Canvas and nbgrader give.

moodle    Full Name_123456_assignsubmission_file/NOTEBOOK, or the same joined by _ without folders
canvas    lastfirst_LATE_4711_98765_NOTEBOOK-1.ipynb: user, submission, and -1 for the second attempt
nbgrader  submitted/STUDENT/ASSIGNMENT/NOTEBOOK with timestamp.txt, or STUDENT+ASSIGNMENT+TIME/NOTEBOOK
plain     STUDENT/.../NOTEBOOK, STUDENT_NOTEBOOK or NOTEBOOK_STUDENT
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rnnlab import checks

MOODLE = re.compile(
    r"(?:^|/)(?P<name>[^/]+)_(?P<student>\d+)_assignsubmission_(?:file|onlinetext)_?/?(?P<file>.*)$", re.S
)
CANVAS = re.compile(
    r"(?:^|/)(?P<name>[^/]+?)(?P<late>_LATE)?_(?P<student>\d+)_\d+_(?P<file>[^/]+?)(?:-(?P<again>\d+))?"
    r"(?P<suffix>\.\w+)?(?:/.*)?$",
    re.S,
)
SUBMITTED = re.compile(r"(?:^|/)submitted/(?P<student>[^/]+)/[^/]+/(?P<file>.+)$", re.S)
INBOUND = re.compile(r"(?:^|/)(?P<student>[^/+]+)\+[^/+]+\+(?P<when>[^/+]+)[^/]*/(?P<file>.+)$", re.S)
TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?(?: ?(?P<zone>UTC|[+-]\d\d:?\d\d))?")
NUMBERED = re.compile(r"(?: ?\(\d+\)|[ _-]copy|-\d+)+$", re.I)  # what browsers and desktops append


@dataclass(frozen=True)
class Owner:
    """What a path says about the student who handed the file in."""

    student: str
    name: str | None = None
    late: bool | None = None
    attempt: int = 1
    when: str | None = None


def find_layout(paths: Iterable[str]) -> str:
    """The layout that most paths of notebooks have; plain where none has most of them."""
    paths = list(paths)
    votes = Counter(kind for path in paths for kind in ("moodle", "nbgrader", "canvas") if owner(path, kind))
    for kind in ("moodle", "nbgrader", "canvas"):  # a Moodle path may look like one of Canvas too
        if 2 * votes[kind] > len(paths):
            return kind
    return "plain"


def owner(path: str, layout: str, top: str = "") -> Owner | None:
    """The student of a path; None where the path does not have this layout.

    `top` is the folder of a plain download in which those of the students lie.
    """
    if layout == "plain":
        return _plain(path.removeprefix(top))
    return {"moodle": _moodle, "canvas": _canvas, "nbgrader": _nbgrader}[layout](path)


def top_folder(paths: Iterable[str]) -> str:
    """The one folder, with its /, in which all students' folders of a plain download lie; empty for none."""
    parts = [path.split("/") for path in paths]
    tops = {part[0] for part in parts}
    return f"{tops.pop()}/" if len(tops) == 1 and all(len(part) > 2 for part in parts) else ""


def timestamp(text: str) -> str | None:
    """The time in an nbgrader timestamp in ISO 8601; None where there is none."""
    match = TIMESTAMP.search(text)
    if not match:
        return None
    zone = {"UTC": "+00:00", None: ""}.get(match["zone"], match["zone"])
    return f"{match[1]}T{match[2]}{zone}"


def _moodle(path: str) -> Owner | None:
    match = MOODLE.search(path)
    return match and Owner(match["student"], _clean(match["name"]))


def _canvas(path: str) -> Owner | None:
    match = CANVAS.search(path)
    if not match:
        return None
    attempt = int(match["again"][:4]) + 1 if match["again"] else 1
    return Owner(match["student"], _clean(match["name"]), bool(match["late"]), attempt)


def _nbgrader(path: str) -> Owner | None:
    if match := SUBMITTED.search(path):
        return Owner(_clean(match["student"]))
    match = INBOUND.search(path)
    return match and Owner(_clean(match["student"]), when=timestamp(match["when"]))


def _plain(path: str) -> Owner | None:
    folder, slash, _ = path.partition("/")
    if slash:
        return Owner(_clean(folder))
    stem = NUMBERED.sub("", path.rpartition(".")[0])
    for lesson in checks.LESSONS:
        title = rf"(?:\d\d_)?{lesson}"
        match = re.fullmatch(rf"(?:(?P<before>.+?)[ _-]+)??{title}(?:[ _-]+(?P<after>.+))?", stem)
        if match and (student := match["before"] or match["after"]):
            return Owner(_clean(student))
    return None


def _clean(name: str) -> str:
    """A name in NFC with single blanks: the same however a system has written it."""
    return unicodedata.normalize("NFC", " ".join(name.split()))
