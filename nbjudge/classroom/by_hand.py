"""The teacher's own decisions: marks and comments by hand, and cells of prose.

Two tables in the class folder, each optional, written by the teacher and by nobody else:

  by_hand.csv  student, lesson, exercise, points, comment    an exercise's name, or that of a prose cell
  prose.csv    lesson, exercise, points                      a cell of prose that the teacher reads

Grading never reads them, so a mark by hand outlives every regrade. A cell that means nothing stops the
command with its file, line, value and remedy before anything is written.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from nbjudge.classroom.export_tables import bare_cell, number_in, plain_identifier, read_table
from nbjudge.classroom.report_summary import Mark, Paper
from nbjudge.classroom.submissions import Submission
from nbjudge.course import current
from nbjudge.finding.notebook_file import Unusable
from nbjudge.lesson_names import UnknownLesson, lesson_named
from nbjudge.printable import LONGEST, MOST_LINES, printable, quantity
from nbjudge.verdict import Status, Verdict

COLUMNS = {  # of each file; those in the second tuple may be missing
    "by_hand.csv": (("student", "lesson", "exercise"), ("points", "comment")),
    "prose.csv": (("lesson", "exercise", "points"), ()),
}
EXPORTED = {"name", "status", "max_points", "misconception"}  # of export --to exercises
MOST_FAULTS = 8  # that one message shows
MOST_POINTS = 1000  # of a cell of prose


class TableRow(NamedTuple):
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
    prose: dict[str, dict[str, float]]  # by lesson: the points of its prose cells


def read(folder: Path, entries: Sequence[Submission]) -> ByHand:
    """The teacher's tables in a class folder. Raises Unusable with all cells that mean nothing."""
    known = {plain_identifier(entry.student): entry.student for entry in entries if entry.student}
    faults = []
    prose = {}  # by lesson: the points of its cells
    rows = _rows(folder, "prose.csv", faults)
    for (lesson, name), points in _checked(rows, _prose_cell, faults).items():
        prose.setdefault(lesson, {})[name] = points
    rows = _rows(folder, "by_hand.csv", faults)
    marks = _checked(rows, lambda row: _mark(row, known, prose), faults)
    if faults:
        cells = quantity(len(faults), "cell")
        head = f"{folder}: nothing was written, {cells} cannot be used:"
        raise Unusable("\n".join([head, *faults[:MOST_FAULTS]]))
    by_place = {}
    for (student, lesson, exercise), mark in marks.items():
        if mark.points is not None or mark.comment:
            by_place.setdefault((student, lesson), {})[exercise] = mark
    return ByHand(by_place, prose)


def _rows(folder: Path, name: str, faults: list[str]) -> list[TableRow]:
    """The rows of a table that hold something; empty if the file is missing."""
    path = folder / name
    if not path.exists():
        return []
    table = read_table(path)
    header = [title.strip().lower() for title in table.rows[0]]
    while header and not header[-1]:
        header.pop()  # of columns that a spreadsheet has added
    needed, others = COLUMNS[name]
    titles = {*header}
    is_complete = titles.issuperset(needed)
    is_known = titles <= {*needed, *others, *EXPORTED}
    if not is_known or not is_complete or len(titles) < len(header):
        columns = ", ".join(header)
        expected = ", ".join(needed + others)
        raise Unusable(f"{path}, line 1: the columns are {columns}; expected {expected}.")
    rows = []
    for cells, above in zip(table.rows[1:], table.lines, strict=False):
        stated = dict(zip(header, map(str.strip, cells), strict=False))
        row = TableRow(name, above + 1, dict.fromkeys(header, "") | stated)  # empty cells may be left out
        if any(cell.strip() for cell in cells[len(header) :]):
            remedy = f"{len(cells)} cells below {len(header)} columns: put a text with a comma between quotes"
            faults.append(str(row.fault(header[-1], remedy)))
        elif any(stated.values()):
            rows.append(row)
    return rows


def _checked(rows: Iterable[TableRow], check: Callable[[TableRow], tuple], faults: list[str]) -> dict:
    """{key: value} of the rows; what means nothing, or stands twice, joins the faults."""
    values = {}
    lines = {}
    for row in rows:
        try:
            key, value = check(row)
            if key in values:
                column = next(iter(row.cells))
                raise row.fault(column, f"line {lines[key]} says the same or otherwise: keep one")
            values[key] = value
            lines[key] = row.line
        except Fault as fault:
            faults.append(str(fault))
    return values


def _prose_cell(row: TableRow) -> tuple[tuple[str, str], float]:
    """((lesson, name of the cell), points)."""
    lesson = _lesson(row)
    name = row.cells["exercise"]
    if not name or name in current().catalogue(lesson):
        raise row.fault("exercise", "give the cell a name that no exercise of the lesson has")
    points = _number(row, "points", MOST_POINTS)
    if not points:
        raise row.fault("points", "write the points of the cell, such as 4")
    return (lesson, name), points


def _mark(
    row: TableRow, people: Mapping[str, str], prose: Mapping[str, Mapping[str, float]]
) -> tuple[tuple[str, str, str], Mark]:
    student = _student(row, "student", people)
    lesson = _lesson(row)
    exercise = row.cells["exercise"]
    written = prose.get(lesson, {})
    known = {**current().catalogue(lesson), **written}
    if exercise not in known:
        names = ", ".join(known)
        remedy = f"{_meant(exercise, known)}{lesson} has {names}; prose.csv adds cells of prose"
        raise row.fault("exercise", remedy)
    possible = known[exercise]
    points = _number(row, "points", possible) if row.cells.get("points") else None
    comment = "\n".join(row.cells.get("comment", "").splitlines())
    if len(comment) > LONGEST or comment.count("\n") >= MOST_LINES:
        raise row.fault("comment", f"a page shows {LONGEST} characters and {MOST_LINES} lines: shorten it")
    mark = Mark(exercise, points, possible, printable(comment, 10 * LONGEST), exercise in written)
    return (student, lesson, exercise), mark


def _student(row: TableRow, column: str, known: Mapping[str, str]) -> str:
    identifier = plain_identifier(bare_cell(row.cells.get(column, "")))
    if identifier in known:
        return known[identifier]
    meant = _meant(identifier, known)
    raise row.fault(column, f"{meant}nobody with this identifier handed in; class.html lists who did")


def _lesson(row: TableRow) -> str:
    text = row.cells["lesson"]
    if not text:
        raise row.fault("lesson", "name the lesson, such as 02 or bptt")
    try:
        return lesson_named(text)
    except UnknownLesson as unknown:
        raise row.fault("lesson", str(unknown)) from None


def _number(row: TableRow, column: str, most: float) -> float:
    number = number_in(row.cells.get(column, ""))
    if number is None or not 0 <= number <= most:
        raise row.fault(column, f"write a number from 0 to {most:g}, such as {most / 2:g}")
    return number


def _meant(text: str, names: Iterable[str]) -> str:
    near = get_close_matches(text, list(names), 1, 0.6)
    return f"did you mean {near[0]}? " if near else ""


def applied(
    hand: ByHand, papers: Mapping[tuple, Paper], entries: Iterable[Submission], waiting: Collection[tuple]
) -> list[Paper]:
    """All papers with the teacher's marks.

    A student whose file could not be graded, or who handed in none, has a paper where one was marked by hand.
    papers: by student and lesson; waiting: (student, lesson) of the files that are still to be graded, whose
    other marks nobody knows.
    """
    names = {entry.student: printable(entry.name or "") for entry in entries if entry.student}
    bare = {}
    for place in hand.marks.keys() - waiting:
        has_points = any(mark.points is not None for mark in hand.marks[place].values())
        is_graded = place in papers and not papers[place].problem
        if has_points and not is_graded:
            bare[place] = _bare(*place, names)
    in_turn = sorted((papers | bare).items())
    return [_marked(hand, paper) for _, paper in in_turn]


def _bare(student: str, lesson: str, names: Mapping[str, str]) -> Paper:
    """A paper of which the check saw nothing."""
    points = current().catalogue(lesson).items()
    verdicts = tuple(Verdict(exercise, Status.not_attempted, 0, most) for exercise, most in points)
    return Paper(student, names.get(student, ""), lesson, verdicts, note="marked by hand alone")


def _marked(hand: ByHand, paper: Paper) -> Paper:
    """A paper with the marks by hand; a cell of prose without one waits for it, unless nothing was graded."""
    prose = {} if paper.problem else hand.prose.get(paper.lesson, {})
    awaited = {name: Mark(name, None, points, "", True) for name, points in prose.items()}
    marks = awaited | hand.marks.get((paper.student, paper.lesson), {})
    return paper._replace(marks=tuple(marks.values()))
