"""Marks in the teacher's own file: the grading worksheet of a Moodle assignment, the gradebook of Canvas.

The file keeps every row, column and cell that is not a mark or a comment. Identifiers and titles are never
made up. A student who is in no row is listed, and so is one whose mark a fault of the grader withholds.
"""

import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rnnlab.grading.classroom.export_tables import Table, fault_in, mark_of, number_in, same_identifier
from rnnlab.grading.classroom.report_summary import Paper
from rnnlab.grading.notebook_file import Unusable

TITLE_AND_ID = re.compile(r"(?P<title>.*\S)\s+\((?P<id>\d+)\)")  # Canvas: an assignment's column
CANVAS_IDS = ("ID", "SIS User ID", "SIS Login ID")  # in the order in which Canvas looks


class Filling(NamedTuple):
    """What was filled into a template, and what was not."""

    table: Table
    filled: int  # students who got a mark
    replaced: int  # of those, whose cell held another mark before
    remarks: list[str]  # sentences about who got none, and how marks were scaled


def fill_moodle(
    table: Table, papers: Sequence[Paper], column: str, feedback: str | None, out_of: float | None
) -> Filling:
    """The offline grading worksheet of one Moodle assignment, with marks and comments.

    Moodle finds a row by the number in its first column, "Participant 123456", whatever the language. The
    titles are in the language of the site: `column` and `feedback` name those of the mark and the comment.
    """
    if table.delimiter != ",":
        raise Unusable(f"{table.path} is separated by {table.delimiter!r}; Moodle reads commas alone.")
    header = [title.strip() for title in table.rows[0]]
    mark = _position(table, header, column, "--column")
    comment = _position(table, header, feedback, "--feedback-column") if feedback else None
    rows = [row for row in table.rows[1:] if any(row)]
    if not rows or not all(re.search(r"\d+$", row[0].strip()) for row in rows):
        raise Unusable(
            f"{table.path} is no grading worksheet: its first column holds no numbers of participants. "
            "Download it in Moodle: the assignment, Submissions, Download grading worksheet."
        )
    keys = {"".join(re.findall(r"\d+$", row[0].strip())): row for row in rows}
    others = [(cell, row) for row in rows for cell in row[1:mark]]
    filling = _Filling(papers, _highest_mark(header, rows) if out_of is None else out_of)
    for paper in filling.markable:
        row = keys.get(paper.student) or filling.unique(paper, others)
        if row is None:
            filling.absent.append(paper.student)
            continue
        filling.write(row, mark, paper)
        if comment is not None:
            _widen(row, comment)
            row[comment] = feedback_html(paper)
    return Filling(table, filling.filled, filling.replaced, filling.remarks(table.path))


def _highest_mark(header: list[str], rows: list[list[str]]) -> float | None:
    """The points of the assignment, where an English worksheet says them."""
    places = [place for place, title in enumerate(header) if title.casefold() == "maximum grade"]
    marks = {number_in(row[place]) for place in places for row in rows if place < len(row)}
    return marks.pop() if len(marks) == 1 else None


def fill_canvas(table: Table, papers: Sequence[Paper], column: str | None, out_of: float | None) -> Filling:
    """A gradebook that was exported from Canvas, with marks in one assignment's column."""
    header = table.rows[0]
    _check_canvas_header(table.path, header)
    mark = _canvas_column(table.path, header, column)
    possible = next((row for row in table.rows[1:4] if row and "Points Possible" in row[0]), None)
    if possible and mark < len(possible):
        if "read only" in possible[mark]:
            raise Unusable(f"{table.path}: the column {header[mark]!r} is read-only in Canvas.")
        out_of = number_in(possible[mark]) if out_of is None else out_of
    places = [header.index(title) for title in CANVAS_IDS if title in header]
    filling = _Filling(papers, out_of)
    rows = [row for row in table.rows[1:] if row is not possible and len(row) > 1 and row[1].strip()]
    for paper in filling.markable:
        candidates = ([row for row in rows if place < len(row) and row[place].strip() == paper.student]
                      for place in places)  # fmt: skip
        matches = next(filter(None, candidates), [])
        if len(matches) > 1:
            raise Unusable(f"{table.path} has {len(matches)} rows for the student {paper.student}.")
        if not matches:
            filling.absent.append(paper.student)
        elif mark < len(matches[0]) and matches[0][mark].strip().upper() == "EX":
            filling.excused.append(paper.student)
        else:
            filling.write(matches[0], mark, paper)
    return Filling(table, filling.filled, filling.replaced, filling.remarks(table.path))


def _check_canvas_header(path: Path, header: list[str]) -> None:
    """Unusable unless Canvas' importer would take the header for its own."""
    if len(header) < 4 or "Student" not in header[0] or "ID" not in header[1] or "Section" not in header:
        raise Unusable(
            f"{path} is no gradebook of Canvas: its first row should begin with Student, ID and have a "
            "column Section. Export it in Canvas: Grades, Export, Export Entire Gradebook."
        )


def _canvas_column(path: Path, header: list[str], column: str | None) -> int:
    """The place of the assignment's column; only one with Canvas' own number in its title will do."""
    columns = {place: match for place, title in enumerate(header) if (match := TITLE_AND_ID.fullmatch(title))}
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


class _Filling:
    """Marks on their way into a template."""

    def __init__(self, papers: Sequence[Paper], out_of: float | None):
        lessons = {paper.lesson for paper in papers}
        if len(lessons) > 1:
            raise Unusable(
                f"a column holds one lesson, these are {', '.join(sorted(lessons))}: add --lesson."
            )
        self.markable = [paper for paper in papers if not fault_in(paper)]
        self.withheld = [paper.student for paper in papers if fault_in(paper)]
        self.absent: list[str] = []
        self.excused: list[str] = []
        self.out_of, self.filled, self.replaced = out_of, 0, 0
        self.possible = max((paper.max_score for paper in papers), default=0)

    def unique(self, paper: Paper, cells: list[tuple[str, list[str]]]) -> list[str] | None:
        """The one row with a cell that is the student's identifier, such as an address or a number."""
        rows = [row for cell, row in cells if same_identifier(cell, paper.student)]
        if len(rows) > 1:
            raise Unusable(f"{len(rows)} rows have a cell {paper.student!r}: the student is not clear.")
        return rows[0] if rows else None

    def write(self, row: list[str], place: int, paper: Paper) -> None:
        """Put a mark into a row."""
        _widen(row, place)
        mark, before = mark_of(paper, self.out_of), row[place].strip()
        self.replaced += number_in(before) not in (None, float(mark))
        row[place] = mark
        self.filled += 1

    def remarks(self, path: Path) -> list[str]:
        """Sentences for the teacher."""
        scaled = self.out_of not in (None, self.possible)
        lines = [f"Marks are scaled from {self.possible} to {self.out_of:g} points."] if scaled else []
        for students, why in (
            (self.absent, f"in no row of {path.name}"),
            (self.withheld, "withheld: an exercise was not judged, by a fault of the grader; grade again"),
            (self.excused, "excused in the template, left as they are"),
        ):
            if students:
                lines.append(f"{why[0].upper()}{why[1:]}: {', '.join(students)}.")
        return lines


def feedback_html(paper: Paper) -> str:
    """The verdicts as Moodle shows a comment: text of strangers is escaped, and no formula begins it."""
    parts = [f"<p>{html.escape(paper.lesson)}: {paper.score} of {paper.max_score} points</p>"]
    for verdict in paper.verdicts:
        lines = "\n".join(verdict.details()) if not verdict.passed else ""
        details = f"<pre>{html.escape(lines)}</pre>" if lines else ""
        parts.append(f"<p><strong>{html.escape(verdict.headline())}</strong></p>{details}")
    return "".join(parts)


def _widen(row: list[str], place: int) -> None:
    row += [""] * (place + 1 - len(row))
