"""Which student a file of a download belongs to: the patterns of platforms.toml, and plain folders.

plain        STUDENT/.../NOTEBOOK, STUDENT_NOTEBOOK or NOTEBOOK_STUDENT
"""

import calendar
import os
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from statistics import mode
from zoneinfo import ZoneInfo

from nbjudge.course import current

PLATFORMS = tomllib.loads((Path(__file__).with_name("platforms.toml")).read_text(encoding="utf-8"))
# in their order there: a Moodle path may look like one of Canvas, too
MONTHS = [name.lower() for name in calendar.month_name[1:]]
TIMESTAMP = re.compile(  # of nbgrader
    r"(?P<year>20\d\d)-(?P<month>\d\d)-(?P<day>\d\d)[ T](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
    r"(?:\.\d+)? ?(?P<zone>\S*)"
)
DATED = re.compile(r"(?<!\d)20\d\d(?:([-_.])(?:0[1-9]|1[0-2])\1[0-3]\d|[01]\d[0-3]\d[T_-]\d{4,6})(?!\d)")
LONGEST = 255  # characters of a file's name; an archive may hold one that takes minutes to match
SUFFIX = re.compile(r"(\.ipynb(\.txt|\.json)?|\.\w{1,5})\s*$", re.I)
COPY = re.compile(  # what desktops add
    r"^(?:copy|kopie|copie|copia)[ _](?:of|von|de|di)[ _]|[ _-]+(?:copy|kopie)(?: \d+)?$", re.I
)
VERSION = re.compile(r"(?:v|version|attempt|final|old|new|fixed|corrected)?[ _.-]*\d{0,2}", re.I)
NUMBERED = re.compile(r" ?\(\d+\)$|-\d{1,2}$")  # what browsers add


@dataclass(frozen=True)
class Owner:
    """What a path says about the student who handed the file in."""

    student: str
    name: str | None = None
    when: str | None = None  # of the hand-in
    number: int | None = None  # of the file, which rises with each file that a platform receives


class Paths:
    """The paths of one download: what a name means may depend on its neighbours."""

    def __init__(self, paths: Iterable[str], students: Iterable[str] = ()) -> None:
        """students: identifiers that the platform has written into files beside the notebooks."""
        paths = list(paths)
        self.stems = {_stem(path.rpartition("/")[2]) for path in paths}
        before = set()
        after = set()
        for stem in self.stems:
            texts = _around_lesson(stem)
            if any(texts):
                before.add(texts[0])
                after.add(texts[1])
        # hw_bptt_ada, hw_bptt_bo; not ada_bptt_v1, ada_bptt_v2
        has_one_beginning = len(before) == 1 < len(after)
        self.begins_with_title = has_one_beginning and not any(map(VERSION.fullmatch, after))
        heads = set()
        for layout in PLATFORMS:
            for path in paths:
                heads.add(_groups(path, layout).get("title_and_student"))
        heads.discard(None)
        self.title = _title(heads, students)  # which all names begin with

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


def _title(heads: set[str], students: Iterable[str]) -> str:
    """The assignment's title, up to the "_" behind it, of heads such as "homework_1_ada"."""
    titles = []
    for student in students:
        end = f"_{student}"
        titles += [head.removesuffix(end) + "_" for head in heads if head.endswith(end)]
    if titles:
        return mode(titles)
    if len(heads) < 2:
        return ""
    common = os.path.commonprefix([*heads])  # noqa: RUF071  by characters
    title, underscore, _ = common.rpartition("_")
    return title + underscore


def find_layout(paths: Iterable[str]) -> str:
    """The layout that most paths of notebooks have; plain where none has most of them."""
    paths = list(paths)
    for kind, platform in PLATFORMS.items():
        beside = platform.get("beside")
        rivals = [path for path in paths if not (beside and re.search(beside, path))]
        owners = [*filter(None, (owner(path, kind) for path in rivals))]
        names = {person.name for person in owners}
        students = {person.student for person in owners}
        is_usual = 2 * len(owners) > len(rivals)
        if is_usual and len(names) <= len(students):
            return kind  # where several names have one number, as in ada_2026_11_x.ipynb, it is not a user's
    return "plain"


def owner(path: str, layout: str, top: str | None = "", among: Paths | None = None) -> Owner | None:
    """The student of a path; None where the path does not have this layout, or names no student.

    top: the folder of a plain download in which those of the students lie; None where that is not clear.
    among: the paths of the same download.
    """
    if layout == "plain":
        if top is None:
            return None
        student = _plain(path.removeprefix(top), among or Paths([path]))
        return Owner(student) if student else None
    groups = _groups(path, layout)
    if "title_and_student" in groups:
        head = groups["title_and_student"]
        title = among.title if among else ""
        if title and head.startswith(title):
            groups["student"] = head.removeprefix(title)
        else:
            _, _, groups["student"] = head.rpartition("_")
    student = _clean(groups.get("student", ""))
    name = _clean(groups["name"]) if "name" in groups else None
    number = int(groups["number"]) if "number" in groups else None
    return Owner(student, name, time_in(groups), number) if student else None


def _groups(path: str, layout: str) -> dict[str, str]:
    """What the pattern of a platform that begins first in a path has found; empty if none is in it."""
    searched = [re.search(pattern, path, re.S) for pattern in PLATFORMS[layout]["patterns"]]
    matches = sorted(filter(None, searched), key=re.Match.start)
    groups = matches[0].groupdict() if matches else {}
    return {name: text for name, text in groups.items() if text is not None}


def time_in(groups: Mapping[str, str]) -> str | None:
    """The time that the groups of a pattern name, in ISO 8601; None without one, or outside the calendar.

    A zone is an offset or a name of the tz database; what neither knows is UTC, as nbgrader has it.
    """
    text = groups.get("month", "").lower()
    months = []
    if len(text) > 2:
        months = [number for number, name in enumerate(MONTHS, 1) if name.startswith(text)]
    if months:
        month = months[0]
    elif text.isdecimal():
        month = int(text)
    else:
        return None
    hour = int(groups["hour"])
    if half := groups.get("half"):
        hour = hour % 12
        if half.lower() == "p":
            hour += 12
    date = int(groups["year"]), month, int(groups["day"])
    clock = hour, int(groups["minute"]), int(groups.get("second", 0))
    zone = _zone(groups["zone"]) if "zone" in groups else None
    try:
        when = datetime(*date, *clock)
    except ValueError:
        return None
    return when.replace(tzinfo=zone).isoformat()


def _zone(text: str) -> tzinfo:
    zone = UTC
    with suppress(ValueError, KeyError, OSError):
        zone = ZoneInfo(text)
    with suppress(ValueError):
        zone = datetime.fromisoformat(f"2000-01-01T00:00{text}").tzinfo or zone
    return zone


def is_untimed(layout: str) -> bool:
    """Whether all files of an archive of the platform have the time of the download."""
    return PLATFORMS.get(layout, {}).get("untimed", False)


def top_folder(paths: Iterable[str]) -> str | None:
    """The one folder, with its /, in which all students' folders of a plain download lie; empty for none.

    None where all lies in one folder and that may be a student's, or hold those of the students.
    """
    parts = [re.sub(r"\.zip/.*", ".zip", path, flags=re.I | re.S).split("/") for path in paths]
    tops = {part[0] for part in parts}
    below = {part[1] for part in parts if len(part) > 2}
    files = [part[1] for part in parts if len(part) == 2]
    if len(tops) != 1 or any(len(part) == 1 for part in parts):
        return ""
    (top,) = tops
    among = Paths(files)
    beside = {_student_in(file, among) for file in files}
    if len(below) > 1 and not beside:
        return f"{top}/"
    return "" if not below and beside <= {None, _clean(top)} else None


def timestamp(text: str) -> str | None:
    """The time in nbgrader's timestamp.txt, whatever stands around it; None without one."""
    match = TIMESTAMP.search(text)
    return time_in(match.groupdict()) if match else None


def _plain(path: str, among: Paths) -> str | None:
    folder, slash, _ = path.partition("/")
    if slash and not folder.lower().endswith(".zip"):
        return _clean(folder)
    student = _student_in(folder, among)
    if slash and not student and not any(lesson in folder for lesson in current().lessons):
        return _clean(folder[:-4])
    return student


def is_dated(student: str) -> bool:
    """Whether an identifier holds a date: two hand-ins of one student would be two students."""
    return bool(DATED.search(student))


def _stem(file: str) -> str:
    """A file's name without its suffix, and without what a desktop adds to a copy."""
    return COPY.sub("", SUFFIX.sub("", file[-LONGEST:]))


def _student_in(file: str, among: Paths) -> str | None:
    """The student in the name of a notebook or zip, beside the name of a lesson."""
    before, after = _around_lesson(among.without_number(_stem(file)))
    student = after if among.begins_with_title and after else before or after
    if student and not re.fullmatch(r"\(\d+\)", student):
        return _clean(student)
    return None


def _around_lesson(stem: str) -> tuple[str, str]:
    """What stands before and behind the name of a lesson in a file's name; empty without one."""
    for lesson in current().lessons:
        title = rf"(?:\d\d_)?{lesson}"
        match = re.fullmatch(rf"(?:(?P<before>.+?)[ _-]+)??{title}(?:[ _-]+(?P<after>.+))?", stem)
        if match and any(match.groups()):
            return match["before"] or "", match["after"] or ""
    return "", ""


def _clean(name: str) -> str:
    """A name in NFC with single blanks: the same however a system has written it."""
    return unicodedata.normalize("NFC", " ".join(name.split()))
