"""The teacher's own decisions: marks and comments by hand, pairs, late penalties, release of feedback.

Three tables in the class folder, each optional, written by the teacher and by nobody else:

  by_hand.csv  student, lesson, exercise, points, comment    an exercise's name, or that of a prose cell
  pairs.csv    student, partner, lesson                      one notebook of two names; no lesson: all lessons
  rules.csv    rule, value, lesson, student                  no lesson, no student: for all of them

Grading never reads them, so a mark by hand outlives every regrade. A cell that means nothing stops the
command with its file, line, value and remedy before anything is written.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from nbjudge.classroom import layouts
from nbjudge.classroom.export_tables import FORMULA, number_in, plain_identifier, read_table
from nbjudge.classroom.report_summary import Mark, Paper
from nbjudge.classroom.submissions import Submission
from nbjudge.course import current
from nbjudge.finding.notebook_file import Unusable
from nbjudge.lesson_names import UnknownLesson, lesson_named
from nbjudge.printable import LONGEST, MOST_LINES, printable
from nbjudge.verdict import Status, Verdict

COLUMNS = {  # of each file; those in the second tuple may be missing
    "by_hand.csv": (("student", "lesson", "exercise"), ("points", "comment")),
    "pairs.csv": (("student", "partner"), ("lesson",)),
    "rules.csv": (("rule", "value"), ("lesson", "student")),
}
EXPORTED = {"name", "status", "max_points", "misconception"}  # of export --to exercises
RULES = "due", "handed_in", "late_percent", "late_most", "feedback_after", "prose"
MOST_FAULTS = 8  # that one message shows
DAY = 86400.0  # seconds
PROSE = re.compile(r"(?P<name>[^=]*[^=\s])\s*=\s*(?P<points>[\d.,]+)")


class Row(NamedTuple):
    """One row of a teacher's table."""

    file: str
    line: int
    cells: Mapping[str, str]

    def fault(self, column: str, remedy: str) -> "Fault":
        """What is wrong with one of its cells."""
        value = printable(self.cells.get(column, ""), 60)
        return Fault(f"{self.file}, line {self.line}, {column} {value!r}: {remedy}")


class Fault(ValueError):
    """A cell that means nothing: the message has file, line, column, value and remedy."""


@dataclass(frozen=True)
class ByHand:
    """The teacher's tables, checked."""

    marks: dict[tuple[str, str], dict[str, Mark]]  # by student and lesson, then by exercise
    teams: dict[str, list[frozenset[str]]]  # by lesson: who hands in together
    rules: dict[tuple[str, str, str], object]  # by rule, lesson and student; empty: all of them
    prose: dict[str, dict[str, float]]  # by lesson: the points of its prose cells

    def rule(self, name: str, lesson: str, student: str) -> object:
        """The value of a rule for a student: a row that names the student counts first, then the lesson."""
        places = (name, lesson, student), (name, "", student), (name, lesson, ""), (name, "", "")
        return next((self.rules[place] for place in places if place in self.rules), None)

    def team(self, lesson: str, student: str) -> list[str]:
        """The others with whom a student hands in."""
        teams = (team for team in self.teams.get(lesson, ()) if student in team)
        return sorted(next(teams, frozenset()) - {student})


def read(folder: Path, entries: Sequence[Submission]) -> ByHand:
    """The teacher's tables in a class folder. Raises Unusable with all cells that mean nothing."""
    known = {plain_identifier(entry.student): entry.student for entry in entries if entry.student}
    faults: list[str] = []
    rules = _checked(_rows(folder, "rules.csv", faults), lambda row: _rule(row, known), faults)
    pairs = _checked(_rows(folder, "pairs.csv", faults), lambda row: _pair(row, known), faults)
    prose: dict[str, dict[str, float]] = {}
    for (_, lesson, _, name), points in ((key, value) for key, value in rules.items() if key[0] == "prose"):
        prose.setdefault(lesson, {})[name] = points
    people = known | {plain_identifier(name): name for pair in pairs for name in pair[:2]}
    marks = _checked(_rows(folder, "by_hand.csv", faults), lambda row: _mark(row, people, prose), faults)
    if faults:
        more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
        raise Unusable("\n".join([f"{folder}: nothing was written.", *faults[:MOST_FAULTS], *more]))
    by_place: dict[tuple[str, str], dict[str, Mark]] = {}
    for (student, lesson, exercise), mark in marks.items():
        if mark.points is not None or mark.comment:
            by_place.setdefault((student, lesson), {})[exercise] = mark
    plain = {key[:3]: value for key, value in rules.items() if key[0] != "prose"}
    return ByHand(by_place, _teams(pairs), plain, prose)


def _rows(folder: Path, name: str, faults: list[str]) -> list[Row]:
    """The rows of a table that hold something; empty if the file is missing."""
    path = folder / name
    if not path.exists():
        return []
    table = read_table(path)
    header = [title.strip().lower() for title in table.rows[0]]
    needed, others = COLUMNS[name]
    strange = [title for title in header if title not in {*needed, *others, *EXPORTED}]
    missing = [title for title in needed if title not in header]
    if strange or missing or len({*header}) < len(header):
        raise Unusable(
            f"{path}, line 1: the columns are {', '.join(header)}; expected {', '.join(needed + others)}."
        )
    rows = []
    line = 1 + _breaks(table.rows[0])
    for cells in table.rows[1:]:
        line += 1
        row = Row(name, line, dict(zip(header, map(str.strip, cells), strict=False)))
        if len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
            remedy = f"{len(cells)} cells below {len(header)} columns: put a text with a comma between quotes"
            faults.append(str(row.fault(header[-1], remedy)))
        elif any(row.cells.values()):
            rows.append(row)
        line += _breaks(cells)
    return rows


def _breaks(cells: Sequence[str]) -> int:
    """Line ends within the cells of a row."""
    return sum(len(re.findall(r"\r\n|\r|\n", cell)) for cell in cells)


def _checked(rows: Iterable[Row], check: Callable[[Row], tuple], faults: list[str]) -> dict:
    """{key: value} of the rows; what means nothing, or stands twice, joins the faults."""
    values = {}
    lines = {}
    for row in rows:
        try:
            key, value = check(row)
            if key in values:
                raise row.fault(
                    next(iter(row.cells)), f"line {lines[key]} says the same or otherwise: keep one"
                )
            values[key] = value
            lines[key] = row.line
        except Fault as fault:
            faults.append(str(fault))
    return values


def _rule(row: Row, known: Mapping[str, str]) -> tuple[tuple[str, str, str, str], object]:
    """((rule, lesson, student, name of a prose cell), value)."""
    rule = row.cells["rule"]
    lesson = _lesson(row)
    name = _identifier(row.cells.get("student", ""))
    student = known.get(plain_identifier(name), name)  # one with more time may not have handed in yet
    if rule not in RULES:
        raise row.fault("rule", f"{_meant(rule, RULES)}the rules are {', '.join(RULES)}")
    if rule == "handed_in" and not student:
        raise row.fault("student", "name the student whose hand-in had this time")
    if rule != "prose":
        value = _time(row) if rule in ("due", "handed_in", "feedback_after") else _number(row, "value", 100)
        return (rule, lesson, student, ""), value
    match = PROSE.fullmatch(row.cells["value"])
    points = match and number_in(match["points"])
    if not points:
        raise row.fault("value", "write the name of the cell and its points, such as discussion=4")
    if not lesson or student:
        raise row.fault("lesson", "a prose cell is of one lesson and of all students")
    if match["name"] in current().catalogue(lesson):
        raise row.fault("value", "an exercise of the lesson has this name: choose another")
    return (rule, lesson, "", match["name"]), points


def _pair(row: Row, known: Mapping[str, str]) -> tuple[tuple[str, str, str], None]:
    """((student, partner, lesson), None); somebody who handed in nothing has the identifier as it stands."""
    names = [_identifier(row.cells.get(column, "")) for column in ("student", "partner")]
    one, other = (known.get(plain_identifier(name), name) for name in names)
    if not (one and other and one != other):
        raise row.fault("partner", "name two different students by their identifiers")
    return (*sorted((one, other)), _lesson(row)), None


def _mark(
    row: Row, people: Mapping[str, str], prose: Mapping[str, Mapping[str, float]]
) -> tuple[tuple[str, str, str], Mark]:
    student = _student(row, "student", people)
    lesson = _lesson(row)
    exercise = row.cells["exercise"]
    if not lesson:
        raise row.fault("lesson", "name the lesson, such as 02 or bptt")
    own = current().catalogue(lesson)
    written = prose.get(lesson, {})
    if exercise not in {*own, *written}:
        names = [*own, *written]
        remedy = f"{_meant(exercise, names)}{lesson} has {', '.join(names)}; rules.csv adds prose cells"
        raise row.fault("exercise", remedy)
    possible = {**own, **written}[exercise]
    points = _number(row, "points", possible) if row.cells.get("points") else None
    comment = "\n".join(row.cells.get("comment", "").splitlines())
    if len(comment) > LONGEST or comment.count("\n") >= MOST_LINES:
        raise row.fault("comment", f"a page shows {LONGEST} characters and {MOST_LINES} lines: shorten it")
    mark = Mark(exercise, points, possible, printable(comment, 10 * LONGEST), exercise in written)
    return (student, lesson, exercise), mark


def _identifier(text: str) -> str:
    """A student's identifier; exported tables put one that a spreadsheet would compute behind '."""
    text = unicodedata.normalize("NFC", text)
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text


def _student(row: Row, column: str, known: Mapping[str, str]) -> str:
    name = _identifier(row.cells.get(column, ""))
    if plain_identifier(name) in known:
        return known[plain_identifier(name)]
    meant = _meant(plain_identifier(name), known)
    raise row.fault(column, f"{meant}nobody with this identifier handed in; class.html lists who did")


def _lesson(row: Row) -> str:
    text = row.cells.get("lesson", "")
    try:
        return lesson_named(text) if text else ""
    except UnknownLesson as unknown:
        raise row.fault("lesson", str(unknown)) from None


def _number(row: Row, column: str, most: float) -> float:
    number = number_in(row.cells.get(column, ""))
    if number is None or not 0 <= number <= most:
        raise row.fault(column, f"write a number from 0 to {most:g}, such as {most / 2:g}")
    return number


def _time(row: Row) -> datetime:
    text = row.cells["value"]
    moment = layouts.moment(text) if ":" in text else None
    if moment is None:
        raise row.fault("value", "write a time such as 2026-11-20T23:59, or with a zone +01:00")
    return moment


def _meant(text: str, names: Iterable[str]) -> str:
    near = get_close_matches(text, list(names), 1, 0.6)
    return f"did you mean {near[0]}? " if near else ""


def _teams(pairs: Iterable[tuple[str, str, str]]) -> dict[str, list[frozenset[str]]]:
    """{lesson: teams}; pairs that share a student are one team."""
    teams: dict[str, list[frozenset[str]]] = {}
    for one, other, stated in pairs:
        for lesson in [stated] if stated else current().lessons:
            touched = [team for team in teams.get(lesson, []) if team & {one, other}]
            rest = [team for team in teams.get(lesson, []) if team not in touched]
            teams[lesson] = [*rest, frozenset({one, other}).union(*touched)]
    return teams


def applied(hand: ByHand, papers: Sequence[Paper], entries: Iterable[Submission]) -> list[Paper]:
    """All papers as the teacher decided: with partners' papers, marks by hand, penalties and release times.

    A student whose file could not be graded, or who handed in none, has a paper where one was marked by hand.
    """
    entries = list(entries)
    own = {(paper.student, paper.lesson): paper for paper in papers}
    names = {entry.student: printable(entry.name or "") for entry in entries if entry.student}
    shared = {place: copy for paper in papers for place, copy in _copies(hand, paper, own, names)}
    bare = {
        (student, lesson): _bare(student, names.get(student, ""), lesson)
        for student, lesson in hand.marks.keys() - own.keys() - shared.keys()
    }
    counted = {entry.place: entry for entry in entries if entry.graded}
    now = _now()
    everyone = sorted((shared | own | bare).items())
    return [_decided(hand, paper, counted, own, now) for _, paper in everyone]


def _copies(
    hand: ByHand, paper: Paper, own: Mapping[tuple, Paper], names: Mapping[str, str]
) -> Iterator[tuple[tuple[str, str], Paper]]:
    """The papers of those who handed in together with this student, and nothing themselves."""
    for partner in hand.team(paper.lesson, paper.student):
        if (partner, paper.lesson) not in own:
            name = names.get(partner, "")
            copy = paper._replace(student=partner, name=name, handed_in_by=paper.student, note="")
            yield (partner, paper.lesson), copy


def _bare(student: str, name: str, lesson: str) -> Paper:
    """A paper of which the check saw nothing."""
    verdicts = (
        Verdict(exercise, Status.not_attempted, 0, n) for exercise, n in current().catalogue(lesson).items()
    )
    return Paper(student, name, lesson, tuple(verdicts), note="marked by hand alone")


def _decided(
    hand: ByHand, paper: Paper, counted: Mapping[tuple, Submission], own: Mapping[tuple, Paper], now: datetime
) -> Paper:
    """A paper with all that the teacher's tables say about it."""
    by = paper.handed_in_by or paper.student
    entry = counted.get((by, paper.lesson))
    marks = hand.marks.get((by, paper.lesson), {}) | hand.marks.get((paper.student, paper.lesson), {})
    awaited = {
        name: Mark(name, None, points, "", True) for name, points in hand.prose.get(paper.lesson, {}).items()
    }
    due, handed_in = (hand.rule(name, paper.lesson, by) for name in ("due", "handed_in"))
    days = _days_late(entry, due, handed_in) if entry else 0
    most = hand.rule("late_most", paper.lesson, by)
    percent = min(days * (hand.rule("late_percent", paper.lesson, by) or 0), 100 if most is None else most)
    until = hand.rule("feedback_after", paper.lesson, paper.student)
    team = hand.team(paper.lesson, paper.student)
    notes = [paper.note] if paper.note else []
    notes += [
        f"{o} of the same team handed in too, and each keeps the own mark"
        for o in team
        if (o, paper.lesson) in own and paper.handed_in_by == "" and (paper.student, paper.lesson) in own
    ]
    if marks and paper.attempt:
        notes += ["marked by hand, and handed in again: does the mark still hold?"]
    return paper._replace(
        marks=tuple((awaited | marks).values()),
        late=days > 0,
        days_late=days,
        late_percent=percent,
        team=tuple(team),
        held_until=f"{until:%Y-%m-%d %H:%M}" if until and now < _zoned(until) else "",
        note="; ".join(notes),
    )


def _days_late(entry: Submission, due: datetime | None, when: datetime | None) -> int:
    """Days begun after the deadline; where only the platform's mark is known, one.

    when: the time of the hand-in as the teacher states it; None: as the download has it.
    """
    if when is None and entry.when and entry.time_of == "hand-in":
        when = datetime.fromisoformat(entry.when)
    if due is None or when is None:
        return int(bool(entry.late))
    delay = when - (due.replace(tzinfo=None) if when.tzinfo is None else _zoned(due))
    return max(0, math.ceil(delay.total_seconds() / DAY))


def _now() -> datetime:
    """The time on this machine."""
    return datetime.now().astimezone()


def _zoned(moment: datetime) -> datetime:
    """The moment with this machine's zone where it states none."""
    return moment if moment.tzinfo else moment.astimezone()


def open_matters(hand: ByHand, papers: Sequence[Paper]) -> Iterator[str]:
    """Sentences on what the tables leave open, for the end of a report or an export."""
    awaited: dict[tuple[str, str], list[str]] = {}
    for paper in papers:
        for mark in paper.marks:
            if mark.is_prose and mark.points is None:
                awaited.setdefault((paper.lesson, mark.exercise), []).append(paper.student)
    for (lesson, name), students in awaited.items():
        yield f"{lesson}: {name} is not marked yet, add it to by_hand.csv: {', '.join(students)}."
    present = {(paper.student, paper.lesson) for paper in papers}
    lessons = {paper.lesson for paper in papers}
    for lesson in lessons:
        for team in hand.teams.get(lesson, ()):
            if not any((student, lesson) in present for student in team):
                yield f"{lesson}: nobody of {', '.join(sorted(team))} in pairs.csv has a mark."
    ruled = {who for _, at, who in hand.rules if who and at in {"", *lessons}}
    if ruled := ruled - {paper.student for paper in papers}:
        yield f"Named in rules.csv and without a mark: {', '.join(sorted(ruled))}."
    undue = {who for rule, at, who in hand.rules if rule == "handed_in" and not hand.rule("due", at, who)}
    if undue:
        yield f"handed_in in rules.csv counts only beside a rule due: {', '.join(sorted(undue))}."


def kept_marks(hand: ByHand, changed: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """A line for each verdict that changes below a mark by hand. changed: (student, lesson, exercise)."""
    for student, lesson, exercise in changed:
        mark = hand.marks.get((student, lesson), {}).get(exercise)
        if mark and mark.points is not None:
            yield f"{student}, {exercise}: the mark by hand, {mark.points:g} of {mark.max_points:g}, stays"
