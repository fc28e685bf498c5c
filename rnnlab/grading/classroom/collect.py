"""From downloads of Moodle, Canvas, nbgrader or plain folders to one submissions list.

Nothing is guessed silently: a file without a student, of no lesson, unreadable, or one of several is listed
with the reason. Collecting again adds to the list, so late files and a second section join what is there.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rnnlab import checks
from rnnlab.files import write_whole
from rnnlab.grading.classroom import archives, keys, layouts, submissions
from rnnlab.grading.classroom.archives import Entry
from rnnlab.grading.classroom.submissions import Submission
from rnnlab.grading.clock import Overtime, limited
from rnnlab.grading.front.grade import lesson_of
from rnnlab.grading.notebook_file import Unusable
from rnnlab.grading.reading import read
from rnnlab.grading.slices import defined

PATIENCE = 20.0  # seconds for finding out what a notebook defines, which takes milliseconds
SHOWN = 20  # files with one and the same reason that are printed


@dataclass(frozen=True)
class Assignment:
    """What the teacher states about a download."""

    layout: str | None = None  # "moodle", "canvas", "nbgrader" or "plain"; None: by the names of the files
    lessons: tuple[str, ...] = ()  # only these count; empty: every lesson
    due: datetime | None = None  # later files are late where the source has no mark of its own
    taken: tuple[str, ...] = ()  # digests, or their beginnings, that count where several files could


def collect(folder: Path, sources: Iterable[Path], assignment: Assignment) -> list[Submission]:
    """Read the sources into the class folder; the whole submissions list.

    Raises Unusable where a source cannot be read or holds no notebook; the list then stays as it was.
    """
    sources = list(sources)
    for lesson in assignment.lessons:
        if lesson not in checks.LESSONS:
            raise Unusable(f"There is no lesson {lesson!r}; the lessons are {', '.join(checks.LESSONS)}.")
    (folder / "files").mkdir(mode=0o700, parents=True, exist_ok=True)
    known = submissions.load(folder) if (folder / "submissions.jsonl").exists() else []
    new = []
    for source in sources:
        section = source.stem if len(sources) > 1 else None
        new += _of_source(folder, source, section, assignment)
    again = {(entry.source, entry.sha256) for entry in new}
    listed = [entry for entry in known if (entry.source, entry.sha256) not in again] + new
    listed = _choose(listed, _taken(folder, assignment, listed))
    keys.class_key(folder, create=True)
    submissions.save(folder, listed)
    return listed


def deadline(text: str | None) -> datetime | None:
    """The deadline that a text states in ISO 8601; a time without a zone is compared as it stands."""
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        raise Unusable(f"--due {text} is no time: write 2026-11-20T23:59, or with a zone +01:00.") from None


def _of_source(
    folder: Path, source: Path, section: str | None, assignment: Assignment
) -> Iterator[Submission]:
    """The files of one download, those of notebooks copied into the class folder."""
    listed = list(archives.entries(source))
    notebooks = [entry.path for entry in listed if entry.suffix == ".ipynb"]
    if not notebooks and not any(entry.problem for entry in listed):
        others = f", only {len(listed):,} other files" if listed else " and nothing else"
        raise Unusable(f"{source} holds no notebook (.ipynb){others}: is it the download of the submissions?")
    layout = assignment.layout or layouts.find_layout(notebooks)
    top = layouts.top_folder(notebooks) if layout == "plain" else ""
    times = _timestamps(listed) if layout == "nbgrader" else {}
    for entry in listed:
        if layout == "nbgrader" and entry.path.endswith("/timestamp.txt"):
            continue
        owner = layouts.owner(entry.path, layout, top)
        submission = Submission(f"{source.name}: {entry.path}", layout, section=section, when=entry.when)
        if owner is None:
            submission = replace(submission, reason=_no_owner(layout))
        else:
            when = owner.when or times.get(entry.path.rpartition("/")[0]) or entry.when
            late = owner.late if owner.late is not None else _is_late(when, assignment.due)
            about = {"student": owner.student, "name": owner.name, "attempt": owner.attempt}
            submission = replace(submission, **about, when=when, late=late)
        yield _with_file(folder, entry, submission, assignment)


def _no_owner(layout: str) -> str:
    if layout == "plain":
        return "its path names no student: put each student's files into a folder with the student's name"
    return f"its path is not one of {layout}: it names no student"


def _timestamps(listed: list[Entry]) -> dict[str, str | None]:
    """{folder: time} from nbgrader's timestamp.txt."""
    files = [entry for entry in listed if entry.path.endswith("/timestamp.txt") and not entry.problem]
    return {
        entry.path.rpartition("/")[0]: layouts.timestamp(entry.read()[:100].decode(errors="replace"))
        for entry in files
    }


def _is_late(when: str | None, due: datetime | None) -> bool | None:
    """None where the time or the deadline is unknown; a time without a zone is of the deadline's zone."""
    if when is None or due is None:
        return None
    time = datetime.fromisoformat(when)
    zone = due.tzinfo or UTC
    aware = [moment if moment.tzinfo else moment.replace(tzinfo=zone) for moment in (time, due)]
    return aware[0] > aware[1]


def _with_file(folder: Path, entry: Entry, submission: Submission, assignment: Assignment) -> Submission:
    """The submission with its content stored and its lesson found, or with the reason why not."""
    if entry.problem:
        return replace(submission, reason=entry.problem)
    if entry.suffix != ".ipynb":
        return replace(submission, reason="it is no notebook (.ipynb)")
    try:
        content = entry.read()
    except Unusable as unusable:
        return replace(submission, reason=str(unusable))
    digest = hashlib.sha256(content).hexdigest()
    stored = folder / "files" / f"{digest}.ipynb"
    if not stored.exists():
        write_whole(stored, content)
    submission = replace(submission, file=f"files/{digest}.ipynb", sha256=digest)
    lesson, reason = _lesson(stored, entry.path)
    if lesson and assignment.lessons and lesson not in assignment.lessons:
        lesson, reason = None, f"it is of {lesson}, and {' or '.join(assignment.lessons)} was requested"
    return replace(submission, lesson=lesson, reason=submission.reason or reason)


def _lesson(stored: Path, path: str) -> tuple[str | None, str | None]:
    """(lesson, None), or (lesson by the file's name or None, why its content does not show it)."""
    shown = Path(path.rpartition("/")[2])
    try:
        with limited(PATIENCE):
            return lesson_of(shown, defined(read(stored))), None
    except Overtime:
        problem = "what it defines could not be found out in time"
    except Unusable as unusable:
        problem = str(unusable).replace(str(stored), shown.name)
        if "seems to be of" in problem:  # the name says one lesson and the content another
            return None, problem
    try:
        return lesson_of(shown, set()), problem
    except Unusable:
        return None, problem


def _taken(folder: Path, assignment: Assignment, listed: list[Submission]) -> set[str]:
    """The digests that the teacher has chosen, now and before."""
    stated = keys.settings(folder)
    taken = {*stated.get("taken", ())}
    for start in assignment.taken:
        match = {entry.sha256 for entry in listed if entry.sha256 and entry.sha256.startswith(start)}
        if len(match) != 1:
            count = f"{len(match)} files" if match else "no file"
            raise Unusable(f"--take {start}: {count} of the class begin with it, it must be one.")
        taken |= match
    if assignment.taken:
        keys.save_settings(folder, stated | {"taken": sorted(taken)})
    return taken


def _choose(listed: list[Submission], taken: set[str]) -> list[Submission]:
    """The list with one file marked for each student and lesson, and the reason at each other one."""
    places = defaultdict(list)
    for number, entry in enumerate(listed):
        if entry.student and entry.lesson and entry.file:
            places[entry.place].append(number)
    chosen = [replace(entry, graded=False) for entry in listed]
    for numbers in places.values():
        for number, reason in _decisions([listed[number] for number in numbers], taken):
            entry = listed[numbers[number]]
            chosen[numbers[number]] = replace(entry, graded=reason is None, reason=reason or _remark(entry))
    return _with_remarks(chosen)


DECIDED = "not graded: "  # begins the reasons that the choice among several files has given


def _remark(entry: Submission) -> str | None:
    """What is still to say about a file that counts: an earlier choice is not."""
    return None if (entry.reason or "").startswith((DECIDED, "note: ")) else entry.reason


def _decisions(rivals: list[Submission], taken: set[str]) -> Iterator[tuple[int, str | None]]:
    """(number, None) for the one that counts of a student's files of a lesson, (number, why not) else."""
    rank = lambda entry: (entry.sha256 in taken, entry.attempt, _moment(entry.when))
    best = max(map(rank, rivals))
    first = [number for number, entry in enumerate(rivals) if rank(entry) == best]
    contents = {rivals[number].sha256 for number in first}
    winner = min(first, key=lambda number: rivals[number].source)
    for number, entry in enumerate(rivals):
        if len(contents) > 1 and number in first:
            yield (
                number,
                f"{DECIDED}nothing says which of {len(contents)} files is newer; --take {entry.sha256[:8]}",
            )
        elif number == winner:
            yield number, None
        elif entry.sha256 == rivals[winner].sha256:
            yield number, f"{DECIDED}it is the same as {rivals[winner].source}"
        elif len(contents) > 1:
            yield number, f"{DECIDED}it is older than others of which one must be chosen"
        else:
            yield number, f"{DECIDED}{rivals[winner].source} is {_why_better(rivals[winner], entry, taken)}"


def _why_better(winner: Submission, entry: Submission, taken: set[str]) -> str:
    if winner.sha256 in taken:
        return "the one that was chosen with --take"
    return "a later attempt" if winner.attempt != entry.attempt else "newer"


def _moment(when: str | None) -> str:
    """A text that sorts by time; sources of one student have one kind of clock."""
    if when is None:
        return ""
    time = datetime.fromisoformat(when)
    return (time.astimezone(UTC) if time.tzinfo else time).replace(tzinfo=None).isoformat()


def _with_remarks(listed: list[Submission]) -> list[Submission]:
    """Notes for a person: one file of several students, one student in several sections."""
    owners, sections = defaultdict(set), defaultdict(set)
    for entry in listed:
        if entry.graded:
            owners[entry.sha256].add(entry.student)
        if entry.student and entry.section:
            sections[entry.student].add(entry.section)
    noted = []
    for entry in listed:
        notes = []
        if entry.graded and (count := len(owners[entry.sha256]) - 1):
            notes.append(f"{count} other student{'s' * (count > 1)} handed in the same file")
        if entry.graded and len(sections[entry.student]) > 1:
            notes.append(f"the student is in {' and '.join(sorted(sections[entry.student]))}")
        note = f"note: {'; '.join(notes)}" if notes else None
        noted.append(replace(entry, reason=entry.reason or note))
    return noted


def describe(listed: list[Submission]) -> Iterator[str]:
    """The list in words: how many of each lesson, then each file that does not count with its reason."""
    counting = submissions.graded(listed)
    students = {entry.student for entry in counting}
    yield f"{len(counting)} notebooks of {len(students)} students will be graded"
    for lesson in checks.LESSONS:
        entries = [entry for entry in counting if entry.lesson == lesson]
        late = sum(bool(entry.late) for entry in entries)
        if entries:
            yield f"  {lesson}: {len(entries)}" + (f", {late} late" if late else "")
    shown: Counter[tuple] = Counter()
    for entry in listed:
        if entry.reason or not entry.graded:
            reason = "!" if entry.graded else "✘", (entry.reason or "").removeprefix(DECIDED)
            shown[reason] += 1
            if shown[reason] <= SHOWN:
                yield f"{reason[0]} {entry.source}: {reason[1].removeprefix('note: ')}"
    for (sign, reason), count in shown.items():
        if count > SHOWN:
            yield f"{sign} {count - SHOWN:,} more files, which submissions.jsonl lists: {reason}"
