"""Which student a file of a download belongs to, by the names that each platform gives.

moodle       Full Name_123456_assignsubmission_file/NOTEBOOK, or the same joined by _ without folders
canvas       lastfirst_LATE_4711_98765_NOTEBOOK: user, and a number that rises with each file handed in
nbgrader     submitted/STUDENT/ASSIGNMENT/NOTEBOOK with timestamp.txt, or STUDENT+ASSIGNMENT+TIME/NOTEBOOK
blackboard   ASSIGNMENT_STUDENT_attempt_2026-11-20-18-30-00_NOTEBOOK
brightspace  4711-98765 - Full Name - Nov 20, 2026 1159 PM - NOTEBOOK, or a folder in place of the last dash
plain        STUDENT/.../NOTEBOOK, STUDENT_NOTEBOOK or NOTEBOOK_STUDENT
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from nbjudge.course import current

LAYOUTS = "moodle", "canvas", "nbgrader", "blackboard", "brightspace", "plain"

# Students choose what stands behind their own part of a path, so the first match from the left counts.
MOODLE = re.compile(r"(?:^|/)(?P<name>[^/]+?)_(?P<student>\d+)_assignsubmission_[a-z]+", re.S)
FILE = r"(?P<file>[^/]+?)(?:\.\w+){0,2}(?:/.*)?"
# Canvas takes _NUMBER_ out of names (lib/content_zipper.rb), and its numbers begin with no zero.
CANVAS = re.compile(
    r"(?:^|/)(?P<name>(?![\d_]+_)[^/]+?)(?P<late>_LATE)?_(?P<student>[1-9]\d*)_"
    rf"(?:(?P<number>[1-9]\d*)_{FILE}|(?:text|link)\.html)$",
    re.S,
)
ANONYMOUS = re.compile(
    rf"(?:^|/)(?P<late>LATE_)?(?P<student>anon_(?!\d+_)[^\W_]+)_(?P<number>\d+)_{FILE}$", re.S
)
NBGRADER = re.compile(
    r"(?:^|/)(?:submitted/(?P<student>[^/]+)/[^/]+|(?P<sender>[^/+]+)\+[^/+]+\+(?P<when>[^/+]+)[^/]*)/.", re.S
)
STEPS = re.compile(r"(?:^|/)(?:source|release|autograded|feedback)/")  # nbgrader has them beside submitted/
BLACKBOARD = re.compile(r"(?:^|/)(?P<head>[^/]+?)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?=[_/.])", re.S)
BRIGHTSPACE = re.compile(
    r"(?:^|/)(?P<student>[^/\s]+?)-\d+ - (?P<name>[^/]+?) - "
    r"(?P<when>[^/]{0,30}?\b\d{4},? \d{1,2}:?\d\d(?: ?[AP]\.?M\.?)?)(?: - |/)",
    re.S | re.I,
)
DAY_NAMED = re.compile(  # Nov 20, 2026 1159 PM, or 20 November, 2026 23:59
    r"(?:(?P<month>[a-z]+)\.? (?P<day>\d{1,2})|(?P<first>\d{1,2})\.? (?P<second>[a-z]+)\.?),? "
    r"(?P<year>\d{4}),? (?P<hour>\d{1,2}):?(?P<minute>\d\d)(?: ?(?P<half>[ap])\.?m\.?)?",
    re.I,
)
MONTHS = "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"
DATED = re.compile(r"(?<!\d)20\d\d(?:([-_.])(?:0[1-9]|1[0-2])\1[0-3]\d|[01]\d[0-3]\d[T_-]\d{4,6})(?!\d)")
TIMESTAMP = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[ T](?P<time>\d\d:\d\d:\d\d)(?:\.\d+)?"
    r"(?: ?(?P<zone>[A-Za-z][\w/+-]*|[+-]\d\d:?\d\d))?"
)
UNTIMED = "moodle", "canvas"  # each file of their archives has the time of the download, not of the hand-in
LONGEST = 255  # characters of a file's name; an archive may hold one that takes minutes to match
SUFFIX = re.compile(r"(\.ipynb(\.txt|\.json)?|\.\w{1,5})\s*$", re.I)
COPY = re.compile(  # what desktops add
    r"^(?:copy|kopie|copie|copia)[ _](?:of|von|de|di)[ _]|[ _-]+(?:copy|kopie)(?: \d+)?$", re.I
)
NUMBERED = re.compile(r" ?\(\d+\)$|-\d{1,2}$")  # what browsers add


@dataclass(frozen=True)
class Owner:
    """What a path says about the student who handed the file in."""

    student: str
    name: str | None = None
    late: bool | None = None
    attempt: int = 1
    when: str | None = None  # of the hand-in
    number: int | None = None  # of the file, which rises with each file that a platform receives
    remark: str | None = None


class Paths:
    """The paths of one download: what a name means may depend on its neighbours."""

    def __init__(self, paths: Iterable[str]) -> None:
        paths = list(paths)
        self.stems = {_stem(path.rpartition("/")[2]) for path in paths}
        heads = {match["head"] for path in paths if (match := BLACKBOARD.search(path))}
        shared = _common_beginning(heads).rpartition("_") if len(heads) > 1 else ("", "", "")
        self.assignment = shared[0] + shared[1]  # Blackboard's title, which all names begin with

    def without_number(self, stem: str) -> str:
        """A file's name without the number that a browser or Canvas has added.

        A number at the end is the student's own unless the name without it is there as well.  One in
        parentheses is the browser's, too, if no other file has the same name with another number.
        """
        bare = NUMBERED.sub("", stem)
        if bare == stem or not bare:
            return stem
        rivals = [other for other in self.stems if NUMBERED.sub("", other) == bare]
        is_copy = stem.endswith(")") and len(rivals) == 1
        return bare if bare in self.stems or is_copy else stem


def find_layout(paths: Iterable[str]) -> str:
    """The layout that most paths of notebooks have; plain where none has most of them."""
    paths = list(paths)
    for kind in LAYOUTS[:-1]:  # in this order: a Moodle path may look like one of Canvas too
        rivals = [path for path in paths if kind != "nbgrader" or not STEPS.search(path)]
        owners = [person for path in rivals if (person := owner(path, kind))]
        names = {person.name for person in owners}
        students = {person.student for person in owners}
        if 2 * len(owners) > len(rivals) and (kind != "canvas" or len(names) <= len(students)):
            return kind  # where several names have one number, as in ada_2026_11_x.ipynb, it is no user's
    return "plain"


def owner(path: str, layout: str, top: str | None = "", among: Paths | None = None) -> Owner | None:
    """The student of a path; None where the path does not have this layout, or names no student.

    top: the folder of a plain download in which those of the students lie; None where that is not clear.
    among: the paths of the same download.
    """
    among = among or Paths([path])
    if layout == "plain":
        person = None if top is None else _plain(path.removeprefix(top), among)
    else:
        person = READERS[layout](path, among)
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
    among = Paths(part[1] for part in parts if len(part) == 2)
    beside = {_student_in(part[1], among) for part in parts if len(part) == 2}
    if len(below) > 1 and not beside:
        return f"{top}/"
    return "" if not below and beside <= {None, _clean(top)} else None


def timestamp(text: str) -> tuple[str | None, str | None]:
    """(time in ISO 8601, None) of an nbgrader timestamp; (None, why) if its zone is unknown, else Nones.

    A zone may be a number, or a name that nbgrader knows, such as UTC, CET or America/Los_Angeles.
    """
    match = TIMESTAMP.search(text)
    if not match:
        return None, None
    time = moment(f"{match['day']}T{match['time']}")
    zone = match["zone"] or ""
    if time and zone[:1].isalpha():
        try:
            time = time.replace(tzinfo=ZoneInfo({"Z": "UTC"}.get(zone, zone)))
        except (ValueError, OSError, LookupError):
            return None, f"the time zone {zone} of its hand-in is unknown, so the time is, too"
    elif time and zone:
        time = moment(f"{time.isoformat()}{zone}")
    return time and time.isoformat(), None


def moment(text: str) -> datetime | None:
    """The time of a text in ISO 8601; None for any other text, or outside the calendar of some zone."""
    try:
        time = datetime.fromisoformat(text)
        time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time


def _moodle(path: str, among: Paths) -> Owner | None:
    match = MOODLE.search(path)
    return match and Owner(match["student"], _clean(match["name"]))


def _canvas(path: str, among: Paths) -> Owner | None:
    matches = [match for match in (ANONYMOUS.search(path), CANVAS.search(path)) if match]
    if not matches:
        return None
    match = min(matches, key=lambda match: match.start())  # a name within a zip is the student's own choice
    name = match.groupdict().get("name")
    number = match["number"] and int(match["number"])
    person = Owner(match["student"], name and _clean(name), bool(match["late"]), number=number)
    # Canvas calls the second hand-in of a file NAME-1; only of the course's own names is that certain.
    stem = match["file"] or ""
    bare = NUMBERED.sub("", stem)
    if bare != stem and bare in current().lessons.values() and stem.endswith(tuple("0123456789")):
        person = replace(person, attempt=int(stem.rpartition("-")[2]) + 1)
    return person


def _nbgrader(path: str, among: Paths) -> Owner | None:
    match = NBGRADER.search(path)
    if match and match["student"]:
        return Owner(_clean(match["student"]))
    if match:
        when, remark = timestamp(match["when"])
        return Owner(_clean(match["sender"]), when=when, remark=remark)
    return None


def _blackboard(path: str, among: Paths) -> Owner | None:
    match = BLACKBOARD.search(path)
    if not match:
        return None
    head = match["head"]
    title = among.assignment
    student = head[len(title) :] if title and head.startswith(title) else head.rpartition("_")[2]
    day, clock = match["when"][:10], match["when"][11:].replace("-", ":")
    time = moment(f"{day}T{clock}")
    return Owner(_clean(student), when=time and time.isoformat())


def _brightspace(path: str, among: Paths) -> Owner | None:
    match = BRIGHTSPACE.search(path)
    return match and Owner(match["student"], _clean(match["name"]), when=_day_named(match["when"]))


def _day_named(text: str) -> str | None:
    """The time of "Nov 20, 2026 1159 PM" in ISO 8601; None for months of another language than English."""
    match = DAY_NAMED.fullmatch(text)
    month = match and (match["month"] or match["second"])[:3].lower()
    if month not in MONTHS:
        return None
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + 12 * (match["half"].lower() == "p")
    day = int(match["day"] or match["first"])
    number = MONTHS.index(month) + 1
    time = moment(f"{match['year']}-{number:02}-{day:02}T{hour:02}:{match['minute']}")
    return time and time.isoformat()


READERS = {
    "moodle": _moodle,
    "canvas": _canvas,
    "nbgrader": _nbgrader,
    "blackboard": _blackboard,
    "brightspace": _brightspace,
}


def _plain(path: str, among: Paths) -> Owner | None:
    folder, slash, _ = path.partition("/")
    if slash and not folder.lower().endswith(".zip"):
        student = _clean(folder)
    else:
        student = _student_in(folder, among)
        if slash and not student and not any(lesson in folder for lesson in current().lessons):
            student = _clean(folder[:-4])
    return student and Owner(student)


def _common_beginning(texts: Iterable[str]) -> str:
    first, last = min(texts), max(texts)  # all others lie between these two
    length = next((n for n, letter in enumerate(first) if letter != last[n : n + 1]), len(first))
    return first[:length]


def is_dated(student: str) -> bool:
    """Whether an identifier holds a date: two hand-ins of one student would be two students."""
    return bool(DATED.search(student))


def _stem(file: str) -> str:
    """A file's name without its suffix, and without what a desktop adds to a copy."""
    return COPY.sub("", SUFFIX.sub("", file[-LONGEST:]))


def _student_in(file: str, among: Paths) -> str | None:
    """The student in the name of a notebook or zip, beside the name of a lesson."""
    stem = among.without_number(_stem(file))
    for lesson in current().lessons:
        title = rf"(?:\d\d_)?{lesson}"
        match = re.fullmatch(rf"(?:(?P<before>.+?)[ _-]+)??{title}(?:[ _-]+(?P<after>.+))?", stem)
        if match and (student := match["before"] or match["after"]):
            return None if re.fullmatch(r"\(\d+\)", student) else _clean(student)
    return None


def _clean(name: str) -> str:
    """A name in NFC with single blanks: the same however a system has written it."""
    return unicodedata.normalize("NFC", " ".join(name.split()))
