"""Marks in the teacher's own file: the grading worksheet of a Moodle assignment, the gradebook of Canvas.

The file keeps every row, column and cell that is not a mark or a comment. Identifiers and titles are never
made up. A student who is in no row is listed, and so is one whose mark a fault of the grader withholds.
"""

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from nbjudge.classroom.export_tables import Table, mark_of, number_in, plain_identifier
from nbjudge.classroom.report_summary import Paper, Papers
from nbjudge.finding.notebook_file import Unusable
from nbjudge.lesson_names import lesson_title

TITLE_AND_ID = re.compile(r"(?P<title>.*\S)\s+\((?P<id>\d+)\)")  # Canvas: an assignment's column
LOCK = "grade can be changed"  # Moodle's title in English; its place is behind mark and maximum
NO = {"no", "nein", "non", "nee", "não", "nao", "nei", "nej", "nie", "ne", "ei", "hayır", "нет", "ні", "όχι",
      "否", "いいえ", "아니오", "아니요", "لا", "לא", "नहीं", "không", "nem", "nu", "не", "ez"}  # fmt: skip
TEST_STUDENT = "Student, Test"  # of Canvas' own, in every gradebook whose teacher has used that view
CANVAS_IDS = ("ID", "SIS User ID", "SIS Login ID")  # in the order in which Canvas looks
NUMBER = re.compile(r"\d+$")

Row = list[str]
Points = float | None  # None where nothing states them


class Template(NamedTuple):
    """What a platform's file has for each student, and where."""

    table: Table
    mark: int  # place of the marks' column
    possible: Points  # points of the assignment, where the file states them
    people: list[tuple[str, Row]]  # (identifier, row) of each student
    cells: list[tuple[str, Row]]  # (cell, row) of all cells that may hold an identifier
    untouched: set[int]  # rows that stay as they are, by their id
    why: str  # of these
    comment: int | None = None  # place of the comments' column


class Filling(NamedTuple):
    """A file with marks, and sentences for the teacher on what was filled in and what was not."""

    table: Table
    filled: int  # students who got a mark
    replaced: list[str]  # of those, whose cell held another mark before
    missing: list[str]  # identifiers in rows of which nothing was handed in
    remarks: list[str]


def fill_moodle(
    table: Table,
    papers: Papers,
    column: str,
    feedback: str | None,
    out_of: Points,
    others: Iterable[str] = (),
) -> Filling:
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
    people = []
    for row in rows:
        if number := NUMBER.search(row[0].strip()):
            people.append((number[0], row))
    if not people or len(people) < len(rows):
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
    titles = [title.casefold() for title in header]
    lock = titles.index(LOCK) if LOCK in titles else mark + 2
    locked = {id(row) for row in rows if _cell(row, lock).casefold() in NO}
    cells = [*people]
    for row in rows:
        cells += [(cell, row) for cell in row[1:mark]]
    template = Template(table, mark, possible, people, cells, locked, "Locked in Moodle", comment)
    filling = _fill(template, papers, out_of, others)
    if comment is None:
        filling.remarks.append("No comments are written: --feedback-column names their column.")
    if table.delimiter != ",":
        word = {";": "semicolon", "\t": "tab"}[table.delimiter]
        separated = f"The columns are separated by a {word}, as before: choose it when Moodle asks."
        filling.remarks.append(separated)
    return filling


def _moodle_points(path: Path, header: list[str], rows: list[Row], mark: int) -> Points:
    """The points of the assignment: Moodle writes them behind the marks, in every language.

    Raises Unusable where the assignment is graded with the words of a scale.
    """
    named = [place for place, title in enumerate(header) if title.casefold() == "maximum grade"]
    place = named[0] if len(named) == 1 else mark + 1
    cells = {_cell(row, place) for row in rows}
    entered = {_cell(row, mark) for row in rows} - {"", "-"}
    scales = [cell for cell in cells if "," in cell and not re.search(r"\d", cell)]
    for word in (*sorted(entered), *scales):
        if number_in(word) is None:
            raise Unusable(
                f"{path}: marks there are words such as {word!r}, not points. Grade the assignment with "
                "points in Moodle and download the worksheet anew, or name another column with --column."
            )
    return number_in(cells.pop()) if len(cells) == 1 else None


def fill_canvas(
    table: Table,
    papers: Papers,
    column: str | None,
    out_of: Points,
    others: Iterable[str] = (),
) -> Filling:
    """A gradebook that was exported from Canvas, with marks in one assignment's column.

    others: students who handed in and have no mark.
    """
    header = table.rows[0]
    _check_canvas_header(table, header)
    mark = _canvas_column(table.path, header, column)
    points = next((row for row in table.rows[1:4] if "Points Possible" in _cell(row, 0)), [])
    possible = _cell(points, mark)
    if "read only" in possible:
        raise Unusable(f"{table.path}: the column {header[mark]!r} is read-only in Canvas.")
    own = header.index("ID")
    places = [header.index(title) for title in CANVAS_IDS if title in header]
    rows = [row for row in table.rows[1:] if row is not points and _cell(row, own)]
    people = []
    cells = []
    for row in rows:
        if _cell(row, 0) != TEST_STUDENT:
            people.append((_cell(row, own), row))
        cells += [(_cell(row, place), row) for place in places]
    excused = {id(row) for row in rows if _cell(row, mark).upper() == "EX"}
    excuse = "Excused in the template"
    template = Template(table, mark, number_in(possible), people, cells, excused, excuse)
    return _fill(template, papers, out_of, others)


def _check_canvas_header(table: Table, header: list[str]) -> None:
    """Unusable unless Canvas' importer would take the file for its own."""
    starts = (("Student", "ID"), ("LastName", "FirstName", "ID"))
    is_own = any(all(map(str.__contains__, header, start)) for start in starts)
    has_columns = len(header) >= 4 and {"ID", "Section"} <= {*header}
    if not is_own or not has_columns:
        raise Unusable(
            f"{table.path} is not a gradebook of Canvas: its first row begins with Student, ID and has "
            "a column Section. Export it in Canvas: Grades, Export, Export Entire Gradebook."
        )
    if table.delimiter == "\t":
        raise Unusable(f"{table.path} is separated by tabs; Canvas reads commas and semicolons: export anew.")


def _canvas_column(path: Path, header: list[str], column: str | None) -> int:
    """The place of the assignment's column; only one with Canvas' own number in its title will do."""
    matches = [TITLE_AND_ID.fullmatch(title.strip()) for title in header]
    columns = {place: match for place, match in enumerate(matches) if match}
    chosen = []
    for place, match in columns.items():
        if column in (None, match[0], match["title"], match["id"]):
            chosen.append(place)
    if len(chosen) == 1:
        return chosen[0]
    titles = ", ".join(repr(match[0]) for match in columns.values()) or "none"
    if column is None:
        why = "name one assignment with --column"
    elif column in header:
        why = f"the column {column!r} has no number of Canvas in its title, and would become a new assignment"
    else:
        why = f"no single column is {column!r}"
    raise Unusable(f"{path}: {why}. The assignments are {titles}.")


def _position(table: Table, header: list[str], title: str, option: str) -> int:
    if header.count(title) == 1:
        return header.index(title)
    titles = ", ".join(header)
    remedy = f"{option} says which it is; titles are in the language of the site"
    raise Unusable(f"{table.path} has no single column {title!r}; it has {titles}. {remedy}.")


def _cell(row: Row, place: int) -> str:
    """The text of a cell; empty where the row ends before it."""
    return row[place].strip() if place < len(row) else ""


def _fill(template: Template, papers: Papers, out_of: Points, others: Iterable[str]) -> Filling:
    """Put each student's mark into the one row of which a cell is the student's identifier.

    others: students without a mark who handed something in. Raises Unusable where no student of the class is
    in the template.
    """
    path = template.table.path
    _refuse_what_cannot_be_scaled(path, papers, out_of, template.possible)
    rows = defaultdict(dict)
    for cell, row in template.cells:
        rows[plain_identifier(cell)][id(row)] = row
    markable = {paper.student: paper for paper in papers if not paper.is_withheld}
    matches = {student: rows[plain_identifier(student)] for student in markable}
    absent = [student for student, match in matches.items() if not match]
    if absent and len(absent) == len(markable):
        raise Unusable(
            f"{path} has no row of any of the {len(absent)} students with marks, "
            f"such as {absent[0]}: is it of another course?"
        )
    clear, unclear = _clear_rows(matches)
    possible = template.possible if out_of is None else out_of
    untouched = [student for student, row in clear.items() if id(row) in template.untouched]
    filled = [student for student in clear if student not in untouched]
    written = {student: _write(template, clear[student], markable[student], possible) for student in filled}
    replaced = [student for student, (is_other_mark, _) in written.items() if is_other_mark]
    recommented = [student for student, (_, is_other_comment) in written.items() if is_other_comment]
    unjudged = [paper.student for paper in papers if paper.open_points]
    awaited = [paper.student for paper in papers if paper.awaited]
    named = {
        f"In no row of {path.name}": absent,
        f"Without a mark, because {path.name} has two rows for a student or one row for two": unclear,
        "Withheld, rows as they were: the grader could not judge an exercise; grade again": unjudged,
        "Withheld, rows as they were: not all prose is marked in by_hand.csv": awaited,
        f"{template.why}, left as they are": untouched,
        "Another mark stood in the template, which is replaced": replaced,
        "Another comment of an export, and what was added to it, is replaced": recommented,
    }
    full_marks = max((paper.max_score for paper in papers), default=0)
    remarks = [*_scaling(path, possible, full_marks), *_sentences(named, len(papers))]
    known = map(plain_identifier, [*others, *(paper.student for paper in papers)])
    present = set().union(*(rows[name] for name in known))
    missing = [identifier for identifier, row in template.people if id(row) not in present]
    return Filling(template.table, len(filled), replaced, missing, remarks)


def _sentences(named: dict[str, list[str]], count: int) -> list[str]:
    """ "Withheld: 1234, 5678." for each reason, of a class of `count` students."""
    sentences = []
    for why, students in named.items():
        if students:
            is_all = len(students) == count > 1
            listed = "all" if is_all else ", ".join(students)
            sentences.append(f"{why}: {listed}.")
    return sentences


def _clear_rows(matches: dict[str, dict[int, Row]]) -> tuple[dict[str, Row], list[str]]:
    """({student: row}, students) of one row each that is nobody else's, and of whom it is unclear which."""
    claims = Counter(key for match in matches.values() for key in match)
    clear = {}
    unclear = []
    for student, match in matches.items():
        if len(match) > 1 or any(claims[key] > 1 for key in match):
            unclear.append(student)
        elif match:
            (clear[student],) = match.values()
    return clear, unclear


def _refuse_what_cannot_be_scaled(path: Path, papers: Papers, out_of: Points, possible: Points) -> None:
    lessons = {paper.lesson for paper in papers}
    if len(lessons) > 1:
        raise Unusable(f"a column holds one lesson, these are {', '.join(sorted(lessons))}: add --lesson.")
    if out_of is None and possible is not None and possible <= 0:
        raise Unusable(
            f"{path}: the assignment has {possible:g} points, to which no mark can be scaled. Set "
            "its points there, and download the file anew."
        )


def _scaling(path: Path, out_of: Points, most: float) -> list[str]:
    """The sentence on how marks are scaled, if it is worth one."""
    if out_of is None:
        unknown = f"{path.name} does not say how many there. --out-of says it"
        return [f"Marks are not scaled: {most} points are full marks here, and {unknown}."]
    if out_of != most:
        return [f"Marks are scaled from {most} to {out_of:g} points."]
    return []


def _write(template: Template, row: Row, paper: Paper, out_of: Points) -> tuple[bool, bool]:
    """Write a mark and a comment; whether another mark and another export's comment stood there."""
    mark = template.mark
    comment = template.comment
    last = max(mark, comment or 0)
    row += [""] * (last + 1 - len(row))
    before = row[mark].strip()
    row[mark] = mark_of(paper, out_of)
    is_other_mark = before not in ("", "-") and number_in(before) != float(row[mark])
    if comment is None:
        return is_other_mark, False
    own, begin, earlier = row[comment].partition(_beginning(paper))  # a teacher's words stay in front
    row[comment] = own + feedback_html(paper)
    is_other_comment = bool(begin) and not row[comment].endswith(begin + earlier)
    return is_other_mark, is_other_comment


def _beginning(paper: Paper) -> str:
    """How a comment of this export begins."""
    return f"<p>{html.escape(lesson_title(paper.lesson))}: "


def feedback_html(paper: Paper) -> str:
    """The verdicts as Moodle shows a comment: text of strangers is escaped, and no formula begins it."""
    parts = [f"{_beginning(paper)}{paper.score} of {paper.max_score} points</p>"]
    for entry in paper.entries:
        verdict = entry.verdict
        lines = ""
        if verdict is not None and not verdict.passed:
            lines = "\n".join(verdict.details())
        headline = html.escape(entry.headline())
        parts.append(f"<p><strong>{headline}</strong></p>")
        if entry.comment:
            parts.append(f"<p>{html.escape(entry.comment)}</p>")
        if lines:
            parts.append(f"<pre>{html.escape(lines)}</pre>")
    return "".join(parts)
