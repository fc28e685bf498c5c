"""Marks in the teacher's own file: the grading worksheet of a Moodle assignment, the gradebook of Canvas.

The file keeps every row, column and cell that is not a mark or a comment. Identifiers and titles are never
made up. A student who is in no row is listed, and so is one whose mark a fault of the grader withholds.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from nbjudge.classroom.export_tables import Table, mark_of, number_in, plain_identifier
from nbjudge.classroom.report_summary import Paper
from nbjudge.finding.notebook_file import Unusable
from nbjudge.lesson_names import lesson_title

TITLE_AND_ID = re.compile(r"(?P<title>.*\S)\s+\((?P<id>\d+)\)")  # Canvas: an assignment's column
LOCK = "grade can be changed"  # Moodle's title in English; its place is behind mark and maximum
NO = {"no", "nein", "non", "nee", "não", "nao", "nei", "nej", "nie", "ne", "ei", "hayır", "нет", "ні", "όχι",
      "否", "いいえ", "아니오", "아니요", "لا", "לא", "नहीं", "không", "nem", "nu", "не", "ez"}  # fmt: skip
TEST_STUDENT = "Student, Test"  # of Canvas' own, in every gradebook whose teacher has used that view
CANVAS_IDS = ("ID", "SIS User ID", "SIS Login ID")  # in the order in which Canvas looks


def fill_moodle(
    table: Table,
    papers: Sequence[Paper],
    column: str,
    feedback: str | None,
    out_of: float | None,
    others: Iterable[str] = (),
) -> "Filling":
    """The offline grading worksheet of one Moodle assignment, with marks and comments.

    Moodle finds a row by the number in its first column, "Participant 123456", whatever the language. The
    titles are in the language of the site: `column` and `feedback` name those of the mark and the comment.
    others: students who handed in and have no mark.
    """
    header = [title.strip() for title in table.rows[0]]
    mark = _position(table, header, column, "--column")
    comment = _position(table, header, feedback, "--feedback-column") if feedback else None
    if mark in (0, comment):
        raise Unusable(f"{table.path}: the column {column!r} holds participants or comments, not marks.")
    rows = [row for row in table.rows[1:] if any(cell.strip() for cell in row)]
    if not rows or not all(re.search(r"\d+$", row[0].strip()) for row in rows):
        raise Unusable(
            f"{table.path} is not a grading worksheet: its first column holds no numbers of participants. "
            "Download it in Moodle: the assignment, Submissions, Download grading worksheet."
        )
    possible = _moodle_points(table.path, header, rows, mark)
    if out_of is not None and possible is not None and out_of > possible:
        raise Unusable(
            f"--out-of {out_of:g}: the assignment of {table.path} has {possible:g} points, and Moodle "
            "ignores larger marks. Name no more points, or raise them in Moodle."
        )
    lock = next((n for n, title in enumerate(header) if title.casefold() == LOCK), mark + 2)

    def is_locked(row):
        return lock < len(row) and row[lock].strip().casefold() in NO

    numbers = [(re.findall(r"\d+$", row[0].strip())[0], row) for row in rows]
    filling = Filling(table, papers, out_of, possible)
    filling.fill([*numbers, *((cell, row) for row in rows for cell in row[1:mark])], mark, is_locked, comment)
    filling.finish("Locked in Moodle", numbers, others)
    filling.remarks += _moodle_remarks(table, comment)
    return filling


def _moodle_remarks(table: Table, comment: int | None) -> list[str]:
    """Sentences on how the worksheet is written. comment: the place of the comments' column."""
    remarks = []
    if comment is None:
        remarks.append("No comments are written: --feedback-column names their column.")
    if table.delimiter != ",":
        word = {";": "semicolon", "\t": "tab"}[table.delimiter]
        remarks.append(f"The columns are separated by a {word}, as before: choose it when Moodle asks.")
    return remarks


def _moodle_points(path: Path, header: list[str], rows: list[list[str]], mark: int) -> float | None:
    """The points of the assignment: Moodle writes them behind the marks, in every language.

    Raises Unusable where the assignment is graded with the words of a scale.
    """
    named = [place for place, title in enumerate(header) if title.casefold() == "maximum grade"]
    place = named[0] if len(named) == 1 else mark + 1
    cells = {row[place].strip() for row in rows if place < len(row)}
    entered = {row[mark].strip() for row in rows if mark < len(row)} - {"", "-"}
    scales = [cell for cell in cells if "," in cell and not re.search(r"\d", cell)]
    if strange := [word for word in (*sorted(entered), *scales) if number_in(word) is None]:
        raise Unusable(
            f"{path}: marks there are words such as {strange[0]!r}, not points. Grade the assignment with "
            "points in Moodle and download the worksheet anew, or name another column with --column."
        )
    return number_in(cells.pop()) if len(cells) == 1 else None


def fill_canvas(
    table: Table,
    papers: Sequence[Paper],
    column: str | None,
    out_of: float | None,
    others: Iterable[str] = (),
) -> "Filling":
    """A gradebook that was exported from Canvas, with marks in one assignment's column.

    others: students who handed in and have no mark.
    """
    header = table.rows[0]
    _check_canvas_header(table, header)
    mark = _canvas_column(table.path, header, column)
    points = next((row for row in table.rows[1:4] if row and "Points Possible" in row[0]), [])
    possible = points[mark] if mark < len(points) else ""
    if "read only" in possible:
        raise Unusable(f"{table.path}: the column {header[mark]!r} is read-only in Canvas.")
    own = header.index("ID")
    places = [header.index(title) for title in CANVAS_IDS if title in header]
    rows = [row for row in table.rows[1:] if row is not points and len(row) > own and row[own].strip()]

    def is_excused(row):
        return mark < len(row) and row[mark].strip().upper() == "EX"

    filling = Filling(table, papers, out_of, number_in(possible))
    cells = [(row[place], row) for row in rows for place in places if place < len(row)]
    filling.fill(cells, mark, is_excused)
    people = [(row[own].strip(), row) for row in rows if row[0].strip() != TEST_STUDENT]
    filling.finish("Excused in the template", people, others)
    return filling


def _check_canvas_header(table: Table, header: list[str]) -> None:
    """Unusable unless Canvas' importer would take the file for its own."""
    starts = (("Student", "ID"), ("LastName", "FirstName", "ID"))
    is_own = any(all(map(str.__contains__, header, start)) for start in starts) and "ID" in header
    if len(header) < 4 or not is_own or "Section" not in header:
        raise Unusable(
            f"{table.path} is not a gradebook of Canvas: its first row begins with Student, ID and has "
            "a column Section. Export it in Canvas: Grades, Export, Export Entire Gradebook."
        )
    if table.delimiter == "\t":
        raise Unusable(f"{table.path} is separated by tabs; Canvas reads commas and semicolons: export anew.")


def _canvas_column(path: Path, header: list[str], column: str | None) -> int:
    """The place of the assignment's column; only one with Canvas' own number in its title will do."""
    columns = {place: match for place, title in enumerate(header)
               if (match := TITLE_AND_ID.fullmatch(title.strip()))}  # fmt: skip
    titles = ", ".join(repr(match[0]) for match in columns.values()) or "none"
    if column is None and len(columns) == 1:
        return next(iter(columns))
    chosen = [place for place, match in columns.items() if column in (match[0], match["title"], match["id"])]
    if len(chosen) == 1:
        return chosen[0]
    if column in header:
        why = f"the column {column!r} has no number of Canvas in its title, and would become a new assignment"
    else:
        why = "name one assignment with --column" if column is None else f"no single column is {column!r}"
    raise Unusable(f"{path}: {why}. The assignments are {titles}.")


def _position(table: Table, header: list[str], title: str, option: str) -> int:
    if header.count(title) == 1:
        return header.index(title)
    remedy = f"{option} says which it is; titles are in the language of the site"
    raise Unusable(f"{table.path} has no single column {title!r}; it has {', '.join(header)}. {remedy}.")


class Filling:
    """Marks on their way into a template: what was filled in, and what was not."""

    def __init__(self, table: Table, papers: Sequence[Paper], out_of: float | None, possible: float | None):
        lessons = {paper.lesson for paper in papers}
        if len(lessons) > 1:
            raise Unusable(
                f"a column holds one lesson, these are {', '.join(sorted(lessons))}: add --lesson."
            )
        if out_of is None and possible is not None and possible <= 0:
            raise Unusable(
                f"{table.path}: the assignment has {possible:g} points, to which no mark can be scaled. Set "
                "its points there, and download the file anew."
            )
        self.table = table
        self.path = table.path
        self.filled = 0  # students who got a mark
        self.replaced: list[str] = []  # of those, whose cell held another mark before
        self.students = [paper.student for paper in papers]
        self.markable = [paper for paper in papers if not paper.is_withheld]
        self.withheld = [paper.student for paper in papers if paper.open_points]
        self.awaited = [paper.student for paper in papers if paper.awaited]
        self.absent: list[str] = []
        self.unclear: list[str] = []
        self.untouched: list[str] = []
        self.comments: list[str] = []  # students whose row held another comment of an export
        self.out_of = possible if out_of is None else out_of
        self.most = max((paper.max_score for paper in papers), default=0)

    def fill(
        self,
        cells: Iterable[tuple[str, list[str]]],
        place: int,
        is_untouched: Callable[[list[str]], bool],
        comment: int | None = None,
    ) -> None:
        """Put each student's mark into the one row of which a cell is the student's identifier.

        cells: (cell, its row). Raises Unusable where no student of the class is in the template.
        """
        rows: dict[str, dict[int, list[str]]] = {}
        for cell, row in cells:
            rows.setdefault(plain_identifier(cell), {})[id(row)] = row
        matches = [(paper, rows.get(plain_identifier(paper.student), {})) for paper in self.markable]
        self.absent = [paper.student for paper, match in matches if not match]
        if self.absent and len(self.absent) == len(self.markable):
            raise Unusable(
                f"{self.path} has no row of any of the {len(self.absent)} students with marks, "
                f"such as {self.absent[0]}: is it of another course?"
            )
        claims = Counter(key for _, match in matches for key in match)
        self._rows = rows
        for paper, match in matches:
            if len(match) > 1 or any(claims[key] > 1 for key in match):
                self.unclear.append(paper.student)
            elif match:
                (row,) = match.values()
                self._write(row, place, paper, comment, is_untouched(row))

    def _write(
        self, row: list[str], place: int, paper: Paper, comment: int | None, is_untouched: bool
    ) -> None:
        if is_untouched:
            self.untouched.append(paper.student)
            return
        row += [""] * (max(place, comment or 0) + 1 - len(row))
        mark = mark_of(paper, self.out_of)
        before = row[place].strip()
        if before not in ("", "-") and number_in(before) != float(mark):
            self.replaced.append(paper.student)
        row[place] = mark
        self.filled += 1
        if comment is not None:
            own, begin, earlier = row[comment].partition(_beginning(paper))  # a teacher's words stay in front
            row[comment] = own + feedback_html(paper)
            if begin and not row[comment].endswith(begin + earlier):
                self.comments.append(paper.student)

    def finish(self, untouched: str, people: Iterable[tuple[str, list[str]]], others: Iterable[str]) -> None:
        """Find the identifiers in rows of which nothing was handed in, and write sentences for the teacher.

        untouched: why rows that are to stay as they were do so; people: (identifier, row); others: students
        without a mark who handed something in.
        """
        known = {*map(plain_identifier, others), *map(plain_identifier, self.students)}
        present = {key for name in known for key in self._rows.get(name, ())}
        self.missing = [identifier for identifier, row in people if id(row) not in present]
        lines = self.remarks = []
        if self.out_of is None:
            lines.append(
                f"Marks are not scaled: {self.most} points are full marks here, and {self.path.name} does "
                "not say how many there. --out-of says it."
            )
        elif self.out_of != self.most:
            lines.append(f"Marks are scaled from {self.most} to {self.out_of:g} points.")
        for students, why in (
            (self.absent, f"In no row of {self.path.name}"),
            (
                self.unclear,
                f"Without a mark, because {self.path.name} has two rows for a student or one row for two",
            ),
            (
                self.withheld,
                "Withheld, rows as they were: the grader could not judge an exercise; grade again",
            ),
            (self.awaited, "Withheld, rows as they were: not all prose is marked in by_hand.csv"),
            (self.untouched, f"{untouched}, left as they are"),
            (self.replaced, "Another mark stood in the template, which is replaced"),
            (self.comments, "Another comment of an export, and what was added to it, is replaced"),
        ):
            if students:
                is_all = len(students) == len(self.students) > 1
                lines.append(f"{why}: {'all' if is_all else ', '.join(students)}.")


def _beginning(paper: Paper) -> str:
    """How a comment of this export begins."""
    return f"<p>{html.escape(lesson_title(paper.lesson))}: "


def feedback_html(paper: Paper) -> str:
    """The verdicts as Moodle shows a comment: text of strangers is escaped, and no formula begins it."""
    parts = [f"{_beginning(paper)}{paper.score} of {paper.max_score} points</p>"]
    for entry in paper.entries:
        verdict = entry.verdict
        lines = "\n".join(verdict.details()) if verdict is not None and not verdict.passed else ""
        details = f"<pre>{html.escape(lines)}</pre>" if lines else ""
        comment = f"<p>{html.escape(entry.comment)}</p>" if entry.comment else ""
        parts.append(f"<p><strong>{html.escape(entry.headline())}</strong></p>{comment}{details}")
    return "".join(parts)
