"""Which student a file of a download belongs to, by the names that Moodle, Canvas and nbgrader give.

moodle    Full Name_123456_assignsubmission_file/NOTEBOOK, or the same joined by _ without folders
canvas    lastfirst_LATE_4711_98765_NOTEBOOK-1.ipynb: user, submission, and -1 for the second attempt
nbgrader  submitted/STUDENT/ASSIGNMENT/NOTEBOOK with timestamp.txt, or STUDENT+ASSIGNMENT+TIME/NOTEBOOK
plain     STUDENT/.../NOTEBOOK, STUDENT_NOTEBOOK or NOTEBOOK_STUDENT
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from nbjudge.course import current

# Students choose what stands behind their own part of a path, so the first match from the left counts.
MOODLE = re.compile(r"(?:^|/)(?P<name>[^/]+?)_(?P<student>\d+)_assignsubmission_[a-z]+", re.S)
FILE = r"[^/]+?(?:(?<!-\d\d)-(?P<again>\d{1,2}))?(?:\.\w+){0,2}(?:/.*)?"  # no attempt: hw-2026-11-20.ipynb
CANVAS = re.compile(
    r"(?:^|/)(?P<name>[^/]+?)(?P<late>_LATE)?_(?P<student>\d+)_"
    rf"(?:\d+_{FILE}|(?:text|link)\.html)$",
    re.S,
)
ANONYMOUS = re.compile(rf"(?:^|/)(?P<late>LATE_)?(?P<student>anon_(?!\d+_)[^\W_]+)_\d+_{FILE}$", re.S)
NBGRADER = re.compile(
    r"(?:^|/)(?:submitted/(?P<student>[^/]+)/[^/]+|(?P<sender>[^/+]+)\+[^/+]+\+(?P<when>[^/+]+)[^/]*)/.", re.S
)
STEPS = re.compile(r"(?:^|/)(?:source|release|autograded|feedback)/")  # nbgrader has them beside submitted/
TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?(?: ?(?P<zone>UTC|[+-]\d\d:?\d\d))?")
UNTIMED = "moodle", "canvas"  # each file of their archives has the time of the download, not of the hand-in
LONGEST = 255  # characters of a file's name; an archive may hold one that takes minutes to match
NUMBERED = re.compile(  # what browsers and desktops add
    r"^(?:copy|kopie|copie|copia)[ _](?:of|von|de|di)[ _]|(?: ?\(\d+\)|[ _-]+(?:copy|kopie)(?: \d+)?|-\d+)+$",
    re.I,
)


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
    for kind in ("moodle", "nbgrader", "canvas"):  # a Moodle path may look like one of Canvas too
        rivals = [path for path in paths if kind != "nbgrader" or not STEPS.search(path)]
        owners = [person for path in rivals if (person := owner(path, kind))]
        names = {person.name for person in owners}
        students = {person.student for person in owners}
        if 2 * len(owners) > len(rivals) and (kind != "canvas" or len(names) <= len(students)):
            return kind  # where several names have one number, as in ada_2026_11_x.ipynb, it is no user's
    return "plain"


def owner(path: str, layout: str, top: str | None = "") -> Owner | None:
    """The student of a path; None where the path does not have this layout, or names no student.

    `top` is the folder of a plain download in which those of the students lie; None where that is not clear.
    """
    if layout == "plain":
        person = None if top is None else _plain(path.removeprefix(top))
    else:
        person = {"moodle": _moodle, "canvas": _canvas, "nbgrader": _nbgrader}[layout](path)
    return person if person and person.student else None


def top_folder(paths: Iterable[str]) -> str | None:
    """The one folder, with its /, in which all students' folders of a plain download lie; empty for none.

    None where all lies in one folder and that may be a student's, or hold those of the students.
    """
    parts = [re.sub(r"\.zip/.*", ".zip", path, flags=re.I | re.S).split("/") for path in paths]
    tops = {part[0] for part in parts}
    below = {part[1] for part in parts if len(part) > 2}
    if len(tops) != 1 or any(len(part) == 1 for part in parts):
        return ""
    (top,) = tops
    beside = {_student_in(part[1]) for part in parts if len(part) == 2}
    if len(below) > 1 and not beside:
        return f"{top}/"
    return "" if not below and beside <= {None, _clean(top)} else None


def timestamp(text: str) -> str | None:
    """The time in an nbgrader timestamp in ISO 8601; None for any other text."""
    match = TIMESTAMP.search(text)
    if not match:
        return None
    zone = {"UTC": "+00:00", None: ""}.get(match["zone"], match["zone"])
    time = f"{match[1]}T{match[2]}{zone}"
    return time if moment(time) else None


def moment(text: str) -> datetime | None:
    """The time of a text in ISO 8601; None for any other text, or outside the calendar of some zone."""
    try:
        time = datetime.fromisoformat(text)
        time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time


def _moodle(path: str) -> Owner | None:
    match = MOODLE.search(path)
    return match and Owner(match["student"], _clean(match["name"]))


def _canvas(path: str) -> Owner | None:
    matches = [match for match in (ANONYMOUS.search(path), CANVAS.search(path)) if match]
    if not matches:
        return None
    match = min(matches, key=lambda match: match.start())  # a name within a zip is the student's own choice
    name = match.groupdict().get("name")
    return Owner(match["student"], name and _clean(name), bool(match["late"]), int(match["again"] or 0) + 1)


def _nbgrader(path: str) -> Owner | None:
    match = NBGRADER.search(path)
    if match and match["student"]:
        return Owner(_clean(match["student"]))
    return match and Owner(_clean(match["sender"]), when=timestamp(match["when"]))


def _plain(path: str) -> Owner | None:
    folder, slash, _ = path.partition("/")
    if slash and not folder.lower().endswith(".zip"):
        return Owner(_clean(folder))
    student = _student_in(folder)
    if slash and not student and not any(lesson in folder for lesson in current().lessons):
        student = _clean(folder[:-4])
    return student and Owner(student)


def _student_in(file: str) -> str | None:
    """The student in the name of a notebook or zip, beside the name of a lesson."""
    file = re.sub(r"(\.ipynb(\.txt|\.json)?|\.\w{1,5})\s*$", "", file[-LONGEST:], flags=re.I)
    stem = NUMBERED.sub("", file)
    for lesson in current().lessons:
        title = rf"(?:\d\d_)?{lesson}"
        match = re.fullmatch(rf"(?:(?P<before>.+?)[ _-]+)??{title}(?:[ _-]+(?P<after>.+))?", stem)
        if match and (student := match["before"] or match["after"]):
            return _clean(student)
    return None


def _clean(name: str) -> str:
    """A name in NFC with single blanks: the same however a system has written it."""
    return unicodedata.normalize("NFC", " ".join(name.split()))
