"""From downloads of platforms, or plain folders, to one submissions list.

Nothing is guessed silently: a file without a student, of no lesson, unreadable, or one of several is listed
with the reason. Collecting again adds to the list, so late files and a second section join what is there.
"""

import hashlib
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import accumulate
from pathlib import Path, PurePosixPath

from nbjudge.classroom import archives, keys, layouts, submissions
from nbjudge.classroom.archives import DownloadedFile
from nbjudge.classroom.submissions import Submission, Submissions
from nbjudge.clock import Overtime, limited
from nbjudge.course import current
from nbjudge.files import write_whole
from nbjudge.finding.notebook import Notebook
from nbjudge.finding.notebook_file import Unusable
from nbjudge.grading.grade import lesson_of, lessons_in
from nbjudge.printable import printable, quantity

PATIENCE = 20.0  # seconds for finding out what a notebook defines, which takes milliseconds
UNREADABLE = "it cannot be graded: "  # begins the reasons at a file that counts and has no exercise to grade
NAMES = 5  # students whose names are printed, so that a wrong reading of a download is seen
DATE_IN_NAME = (
    "is this the download of a platform that collect does not know? Put each student's files into a folder "
    "with the student's name"
)
COPYING = 60  # seconds within which files of one student may have been copied or unpacked together
LONGEST_HEAD = 1000  # bytes of a text that a platform wrote, which names the student first
SHOWN = 20  # files with one and the same reason that are printed


@dataclass(frozen=True)
class Assignment:
    """What the teacher states about a download."""

    layout: str | None = None  # a platform of platforms.toml, or plain; None: by the names of the files
    lessons: tuple[str, ...] = ()  # only these count; empty: every lesson
    taken: tuple[str, ...] = ()  # digests, or their beginnings, that count where several files could


def collect(folder: Path, sources: Iterable[Path], assignment: Assignment) -> Submissions:
    """Read the sources into the class folder; the whole submissions list.

    Raises Unusable where a source cannot be read or holds no notebook; the list then stays as it was.
    """
    sources = [*{source.resolve(): source for source in sources}.values()]
    (folder / "files").mkdir(mode=0o700, parents=True, exist_ok=True)
    for part in folder.glob("files/.*.part"):  # a kill has left it while it was written
        part.unlink(missing_ok=True)
    known = submissions.load(folder) if (folder / "submissions.jsonl").exists() else []
    new = []
    names = Counter(source.name for source in sources)
    for source in sources:
        place = f"{source.resolve().parent.name}/" if names[source.name] > 1 else ""
        section = f"{place}{source.stem}" if len(sources) > 1 else None
        new += _of_source(folder, source, f"{place}{source.name}", section, assignment)
    new = _without_forgetting(new, known)
    again = {(entry.source, entry.sha256) for entry in new}
    listed = [entry for entry in known if (entry.source, entry.sha256) not in again] + new
    keys.class_key(folder, create=True)
    listed = _choose(listed, _taken(folder, assignment, listed), folder)
    submissions.save(folder, listed)
    return listed


def _without_forgetting(new: Submissions, known: Submissions) -> Submissions:
    """The new entries; a file whose lesson is not requested now stays what it was collected as."""
    before = {(entry.source, entry.sha256): entry for entry in known if entry.lesson}
    remembered = []
    for entry in new:
        if submissions.NOT_WANTED.match(entry.reason or ""):
            entry = before.get((entry.source, entry.sha256), entry)
        remembered.append(entry)
    return remembered


def check_places(folder: Path, sources: Iterable[Path]) -> None:
    """Raise Unusable where the class folder is a file or in a download, or a download is a class folder."""
    if folder.is_file():
        raise Unusable(f"{folder} is a file: name the class folder first, then the downloads.")
    for source in sources:
        if (source / "class.json").is_file() and source.resolve() != folder.resolve():
            raise Unusable(f"{source} is a class folder: name the download that it was collected from.")
        if folder.resolve().is_relative_to(source.resolve()):
            raise Unusable(
                f"The class folder {folder} lies in the download {source}, and its own files would be "
                "collected as submissions: name a class folder elsewhere."
            )


def _of_source(
    folder: Path, source: Path, title: str, section: str | None, assignment: Assignment
) -> Iterator[Submission]:
    """The files of one download, those of notebooks copied into the class folder."""
    listed, paths = _listed(source)
    above = "submitted/" if source.name == "submitted" else ""  # nbgrader's own folder
    layout = assignment.layout or layouts.find_layout(f"{above}{path}" for path in paths)
    top = layouts.top_folder(paths) if layout == "plain" else ""
    times = _timestamps(archives.entries(source)) if layout == "nbgrader" else {}
    loaded = max((entry.when for entry in listed if entry.when), default=None)
    spent = Counter()  # seconds: two hundred files of one student may be slow
    folders = Counter(str(folder) for entry in listed for folder in PurePosixPath(entry.path).parents)
    stated = _identifiers(archives.entries(source)) if layout == "blackboard" else []
    below_top = [f"{above}{path}".removeprefix(top or "") for path in paths]
    among = layouts.Paths(below_top, stated)
    for entry in archives.entries(source):
        place, _, name = entry.path.rpartition("/")
        if layout == "nbgrader" and name == "timestamp.txt" and folders[place or "."] > 1:
            continue
        path = entry.path if layout == "plain" else f"{above}{entry.path}"
        submission = Submission(f"{title}: {entry.path}", layout, section=section)
        owner = layouts.owner(path, layout, top, among)
        if owner is None:
            submission = replace(submission, reason=_no_owner(layout, top))
        elif layout == "plain" and layouts.is_dated(owner.student):
            reason = f"its student would be {owner.student!r}, which holds a date: {DATE_IN_NAME}"
            submission = replace(submission, reason=reason)
        else:
            handed_in = owner.when or _time_of(place, times)
            submission = replace(submission, **asdict(owner) | {"when": handed_in})
        if submission.when is None and not _is_clone(source, entry.path):
            submission = replace(submission, when=loaded if layouts.is_untimed(layout) else entry.when)
        begin = time.monotonic()
        patience = min(PATIENCE, max(1.0, 3 * PATIENCE - spent[submission.student]))
        yield _with_file(folder, entry, submission, assignment, patience)
        spent[submission.student] += time.monotonic() - begin


def _listed(source: Path) -> tuple[list[DownloadedFile], list[str]]:
    """The files of a download without their content, and the paths of its notebooks, or of all files if it
    has none.  Raises Unusable if it holds no notebook and nothing that might be one."""
    listed = [replace(entry, read=bytes) for entry in archives.entries(source)]  # zips would stay in memory
    notebooks = [entry.path for entry in listed if entry.is_notebook]
    if not notebooks and not any(entry.problem for entry in listed):
        others = f", only {len(listed):,} other files" if listed else " and nothing else"
        raise Unusable(f"{source} holds no notebook (.ipynb){others}: is it the download of the submissions?")
    return listed, notebooks or [entry.path for entry in listed]


def _is_clone(source: Path, path: str) -> bool:
    """Whether a file lies in a clone of a repository, whose files have the time of the clone."""
    if not source.is_dir():
        return False
    folders = [source, *(source / folder for folder in PurePosixPath(path).parents)]
    return any((folder / ".git").exists() for folder in folders)


def _no_owner(layout: str, top: str | None) -> str:
    if top is None:
        return (
            "its first folder may be a student or hold all students: collect a folder in which each student "
            "has a folder with the notebook directly in it"
        )
    if layout == "plain":
        return "its path names no student: put each student's files into a folder with the student's name"
    return (
        f"its path is not one of {layout}, so it names no student: collect it in a folder with the student's "
        "name, or choose another --layout"
    )


def _identifiers(listed: Iterable[DownloadedFile]) -> list[str]:
    """The students in texts that Blackboard writes beside hand-ins: `Name: Ada Lovelace (ada_l)`."""
    texts = [_head(entry) for entry in listed if entry.suffix == ".txt" and not entry.problem]
    return [name for text in texts for name in re.findall(r"^\ufeff?Name: .*\((.+)\)\s*$", text, re.M)[:1]]


def _timestamps(listed: Iterable[DownloadedFile]) -> dict[str, str | None]:
    """{folder: time} from nbgrader's timestamp.txt, None where it cannot be read."""
    files = [entry for entry in listed if entry.path.endswith("/timestamp.txt") and not entry.problem]
    return {entry.path.rpartition("/")[0]: layouts.timestamp(_head(entry)) for entry in files}


def _head(entry: DownloadedFile) -> str:
    """The beginning of a text; empty where it cannot be read."""
    with suppress(Unusable):
        return entry.read()[:LONGEST_HEAD].decode(errors="replace")
    return ""


def _time_of(place: str, times: dict[str, str | None]) -> str | None:
    """The time of the outermost folder around a place that has one; none from within a student's zip."""
    parts = re.split(r"(?<=\.zip)/", place, maxsplit=1, flags=re.I)[0].split("/")
    above = accumulate(parts, lambda outer, name: f"{outer}/{name}")
    return next((times[folder] for folder in above if times.get(folder)), None)


def _with_file(
    folder: Path, entry: DownloadedFile, submission: Submission, assignment: Assignment, patience: float
) -> Submission:
    """The submission with its content stored and its lesson found, or with the reason why not."""
    if entry.problem:
        return replace(submission, reason=entry.problem)
    if not entry.is_notebook:
        unopened = "it is an archive that is not opened: hand in the notebook, or unpack it and collect again"
        reason = "it is not a notebook (.ipynb)"
        if entry.suffix in archives.UNOPENED:
            reason = unopened
        return replace(submission, reason=reason)
    try:
        content = entry.read()
    except Unusable as unusable:
        return replace(submission, reason=str(unusable))
    digest = hashlib.sha256(content).hexdigest()
    stored = folder / "files" / f"{digest}.ipynb"
    if not stored.exists() or stored.read_bytes() != content:  # what was changed there is brought back
        write_whole(stored, content)
    submission = replace(submission, file=f"files/{digest}.ipynb", sha256=digest)
    lesson, reason = _lesson(stored, entry.path, assignment.lessons, patience)
    if entry.uncertain and not (submission.student or "").isascii():
        uncertain = "its archive does not state how names are encoded: check the student's name"
        reason = f"{reason}; {uncertain}" if reason else uncertain
    if lesson and assignment.lessons and lesson not in assignment.lessons:
        lesson, reason = None, f"it is of {lesson}, and {' or '.join(assignment.lessons)} was requested"
    return replace(submission, lesson=lesson, reason=submission.reason or reason)


def _lesson(
    stored: Path, path: str, wanted: tuple[str, ...], patience: float
) -> tuple[str | None, str | None]:
    """(lesson, remark or None), or (lesson by the file's name or None, why its content does not show it)."""
    shown = Path(path.rpartition("/")[2])
    try:
        with limited(patience):
            names = Notebook.read(stored).names
            return _of_several(lesson_of(shown, names), shown, names, wanted)
    except Overtime:
        problem = (
            f"what it defines could not be found out in {patience:.0f} s: it holds too much program text"
        )
    except Unusable as unusable:
        problem = str(unusable).replace(str(stored), shown.name)
        if "seems to be of" in problem:  # the name says one lesson and the content another
            return _of_content(names, wanted) or (None, problem)
    try:
        return lesson_of(shown, set()), f"{UNREADABLE}{problem}"
    except Unusable:
        return None, problem


def _of_content(names: set[str], wanted: tuple[str, ...]) -> tuple[str, str] | None:
    """(lesson, remark) of a notebook under another lesson's name that holds exercises of one requested."""
    holds = lessons_in(names, wanted)
    if len(holds) != 1:
        return None
    (lesson,) = holds
    return lesson, f"its name is of another lesson, its exercises of {lesson}"


def _of_several(lesson: str, shown: Path, names: set[str], wanted: tuple[str, ...]) -> tuple[str, str | None]:
    """(lesson, remark) of a notebook that defines exercises of several lessons, if its name states none."""
    holds = lessons_in(names, current().lessons)
    with suppress(Unusable):
        return lesson_of(shown, set()), None
    chosen = [known for known in holds if known in wanted]
    if len(holds) < 2 or len(chosen) == 1:
        return (*chosen, lesson)[0], None
    several = " and ".join(holds)
    return lesson, f"it defines exercises of {several}, and {lesson} is graded: choose another with --lesson"


def _taken(folder: Path, assignment: Assignment, listed: Submissions) -> list[str]:
    """The digests that the teacher has chosen, the latest as the last: it counts before earlier ones."""
    stated = keys.settings(folder)
    taken = [*stated.get("taken", ())]
    for start in assignment.taken:
        match = {entry.sha256 for entry in listed if entry.sha256 and entry.sha256.startswith(start)}
        if len(match) != 1:
            count = "no file of the class has"
            if match:
                count = f"{len(match)} files of the class have"
            raise Unusable(f"--take {start}: {count} a digest that begins so, it must be one file.")
        taken = [*(digest for digest in taken if digest not in match), *match]
    if assignment.taken:
        keys.save_settings(folder, stated | {"taken": taken})
    return taken


def _contender(folder: Path, entry: Submission) -> str:
    """ "this one attempts 4 of 4 exercises; to take it, collect again with --take d1691690" """
    names = current().catalogue(entry.lesson)
    try:
        with limited(PATIENCE):
            count = sum(map(Notebook.read(folder / entry.file).attempts, names))
    except (Unusable, Overtime):
        count = 0
    exercises = quantity(len(names), "exercise")
    option = f"--take {entry.sha256[:8]}"
    return f"this one attempts {count} of {exercises}; to take it, collect again with {option}"


def _choose(listed: Submissions, taken: list[str], folder: Path) -> Submissions:
    """The list with one file marked for each student and lesson, and the reason at each other one."""
    places = defaultdict(list)
    for number, entry in enumerate(listed):
        if entry.student and entry.lesson and entry.file:
            places[entry.place].append(number)
    chosen = [replace(entry, graded=False) for entry in listed]
    for numbers in places.values():
        reasons = _decisions([listed[number] for number in numbers], taken, folder)
        for number, reason in zip(numbers, reasons, strict=True):
            entry = listed[number]
            chosen[number] = replace(entry, graded=reason is None, reason=reason or _remark(entry))
    return _with_remarks(chosen)


DECIDED = "not graded: "  # begins the reasons that the choice among several files has given


def _remark(entry: Submission) -> str | None:
    """What is still to say about a file that counts: an earlier choice is not."""
    if (entry.reason or "").startswith((DECIDED, "note: ")):
        return None
    return entry.reason


def _decisions(rivals: Submissions, taken: list[str], folder: Path) -> Iterator[str | None]:
    """None for the one that counts of a student's files of a lesson, for each other one why it does not."""

    def rank(entry):
        # a time without a zone is this machine's
        moment = datetime.fromisoformat(entry.when).timestamp() if entry.when else 0.0
        choice = taken.index(entry.sha256) if entry.sha256 in taken else -1
        return (choice, entry.number or 0, moment)

    def is_as_new(entry):
        *order, moment = rank(entry)
        copying = COPYING if entry.layout == "plain" else 0
        return order == best_order and moment >= latest - copying

    *best_order, latest = max(map(rank, rivals))
    first = [number for number, entry in enumerate(rivals) if is_as_new(entry)]
    contents = {rivals[number].sha256 for number in first}
    winner = min(first, key=lambda number: rivals[number].source)
    better = rivals[winner]
    for number, entry in enumerate(rivals):
        if len(contents) > 1 and number in first:
            which = f"nothing says which of {len(contents)} files is newer"
            yield f"{DECIDED}{which}; {_contender(folder, entry)}"
        elif number == winner:
            yield None
        elif entry.sha256 == better.sha256:
            yield f"{DECIDED}it is the same as {better.source}"
        elif len(contents) > 1:
            yield f"{DECIDED}it is older than others of which one must be chosen"
        else:
            name = better.source if better.source != entry.source else f"the file of {better.when}"
            yield f"{DECIDED}{name} is {_why_better(better, entry, taken)}"


def _why_better(winner: Submission, entry: Submission, taken: list[str]) -> str:
    if winner.sha256 in taken:
        return "the one that was chosen with --take"
    if winner.number != entry.number:
        return f"newer by its number in Canvas, {winner.number}"
    return "newer by the times of the two files" if winner.layout == "plain" else "newer"


def _with_remarks(listed: Submissions) -> Submissions:
    """Notes for a person: one file of several students, one student in several sections."""
    owners, sections, names, forms = (defaultdict(set) for _ in range(4))
    for entry in listed:
        if entry.graded:
            owners[entry.sha256].add(entry.student)
        if entry.student:
            sections[entry.student] |= {entry.section} - {None}
            names[entry.student] |= {entry.name} - {None}
            forms[entry.student.casefold()].add(entry.student)

    def notes(entry):
        if count := len(owners[entry.sha256]) - 1:
            yield f"{quantity(count, 'other student')} handed in the same file"
        several = (
            ("the student is in ", sections[entry.student], ""),
            (f"{entry.student} is the identifier of ", names[entry.student], ""),
            ("", forms[entry.student.casefold()], " count as different students"),
        )
        for before, group, after in several:
            if len(group) > 1:
                yield f"{before}{' and '.join(sorted(group))}{after}"

    remarked = []
    for entry in listed:
        sentences = [*notes(entry)] if entry.graded and not entry.reason else []
        if sentences:
            entry = replace(entry, reason=f"note: {'; '.join(sentences)}")
        remarked.append(entry)
    return remarked


def describe(listed: Submissions) -> Iterator[str]:
    """The list in words: how many of each lesson, then each file that does not count with its reason."""
    counting = submissions.graded(listed)
    students = [*dict.fromkeys(printable(entry.name or entry.student, 40) for entry in counting)]
    if len(students) > NAMES:
        students = [*students[:NAMES], "…"]
    names = ", ".join(students)
    count = len({entry.student for entry in counting})
    size = f"{quantity(len(counting), 'notebook')} of {quantity(count, 'student')}"
    yield f"{size} will be graded{(': ' if names else '')}{names}"
    for lesson in current().lessons:
        if number := sum(entry.lesson == lesson for entry in counting):
            yield f"  {lesson}: {number}"
    shown = Counter()
    downloads = {entry.source.partition(": ")[0] for entry in listed}
    for entry in submissions.without_repeats(listed):
        if entry.reason or not entry.graded:
            is_fine = entry.graded and not (entry.reason or "").startswith(UNREADABLE)
            reason = "!" if is_fine else "✘", (entry.reason or "").removeprefix(DECIDED)
            shown[reason] += 1
            if shown[reason] <= SHOWN:
                place = entry.source.partition(": ")[2] if len(downloads) == 1 else entry.source
                yield f"{reason[0]} {place}: {reason[1].removeprefix('note: ')}"
    for (sign, reason), count in shown.items():
        if count > SHOWN:
            yield f"{sign} {count - SHOWN:,} more files, which submissions.jsonl lists: {reason}"
