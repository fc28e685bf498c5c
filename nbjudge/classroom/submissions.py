"""The submissions list of a class folder: one line for each file that was collected.

It is written whole or not at all, so that the folder is usable after a kill at any moment.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from nbjudge.course import current
from nbjudge.files import write_whole
from nbjudge.finding.notebook_file import Unusable
from nbjudge.remedies import command_line

NOT_WANTED = re.compile(r"it is of \w+, and (.+) was requested")  # the reason at a notebook of another lesson
SLUG = 40  # characters of a student's identifier that a folder's name shows


@dataclass(frozen=True)
class Submission:
    """One file that was collected, whether it counts or not; the package's docstring explains each field."""

    source: str
    layout: str
    student: str | None = None
    name: str | None = None
    lesson: str | None = None
    file: str | None = None
    sha256: str | None = None
    section: str | None = None
    when: str | None = None
    number: int | None = None
    graded: bool = False
    reason: str | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Student and lesson: one result each."""
        return self.student or "", self.lesson or ""


Submissions = list[Submission]
FIELDS = {field.name for field in fields(Submission)}


def load(folder: Path) -> Submissions:
    """The submissions list of a class folder. Raises Unusable where it is missing or damaged."""
    path = folder / "submissions.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        collect = command_line(current().command, "class", "collect", folder, "DOWNLOAD.zip")
        raise Unusable(
            f"{folder} is not a class folder (it has no submissions.jsonl): begin with {collect}"
        ) from None
    return [_parsed(path, number, line) for number, line in enumerate(lines, 1) if line]


def save(folder: Path, listed: Iterable[Submission]) -> None:
    """Write the submissions list, whole."""
    lines = [json.dumps(asdict(entry), ensure_ascii=False, sort_keys=True) for entry in listed]
    text = "".join(f"{line}\n" for line in lines)  # a name that is not valid Unicode stays as JSON's escape
    write_whole(folder / "submissions.jsonl", text.encode(errors="backslashreplace"))


def graded(listed: Iterable[Submission]) -> Submissions:
    """The submissions that count, by student and lesson."""
    return sorted((entry for entry in listed if entry.graded), key=lambda entry: entry.place)


def without_repeats(listed: Iterable[Submission]) -> Iterator[Submission]:
    """The list, in which all notebooks of one folder that are of lessons not requested are one entry."""
    groups = defaultdict(list)  # by place, and what was requested where it is another lesson
    for entry in listed:
        other = NOT_WANTED.fullmatch(entry.reason or "")
        place = entry.source.rpartition("/")[0] if other else entry.source
        groups[place, other and other[1]].append(entry)
    for (place, wanted), group in groups.items():
        if wanted and len(group) > 1:
            reason = f"{len(group)} notebooks there are of other lessons, and {wanted} was requested"
            yield replace(group[0], source=place, reason=reason)
        else:
            yield from group


def _parsed(path: Path, number: int, line: str) -> Submission:
    try:
        entry = json.loads(line)
        submission = Submission(**{name: value for name, value in entry.items() if name in FIELDS})
        if submission.graded and not (
            submission.lesson in current().lessons
            and all(
                isinstance(text, str) for text in (submission.student, submission.file, submission.sha256)
            )
        ):
            raise ValueError("a file that counts has a student, a lesson of the course, a file and a digest")
        return submission
    except (ValueError, TypeError, AttributeError) as error:
        raise Unusable(f"{path}, line {number} is damaged ({error}): collect again.") from None


def slug(student: str) -> str:
    """A folder's name for a student: readable where the identifier is, and one for each identifier."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", student).strip("-")[:SLUG]
    digest = hashlib.sha256(student.encode(errors="surrogatepass")).hexdigest()[:10]
    return f"{readable}-{digest}".lstrip("-")
