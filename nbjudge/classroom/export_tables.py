"""Marks as CSV: tables of a class's results, and what any table of marks needs.

Cells survive commas, quotes, line ends and every script. A text that a spreadsheet would compute is put
behind an apostrophe, and the file says with a mark at its beginning that it is UTF-8.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from nbjudge.classroom.report_summary import Paper, plain_number
from nbjudge.finding.notebook_file import Unusable

LARGEST = 64 << 20  # bytes of a template
BOM = "\ufeff"
FORMULA = tuple("=+-@\t\r＝＋－＠")  # a spreadsheet computes a cell that begins so


class Table(NamedTuple):
    """A CSV file: its cells, and how it was written."""

    path: Path
    rows: list[list[str]]
    delimiter: str = ","
    newline: str = "\r\n"
    bom: bool = False
    lines: Sequence[int] = ()  # in which the rows end, from 1

    def to_bytes(self) -> bytes:
        """The file, with the delimiter, line ends and mark of the original."""
        text = io.StringIO()
        csv.writer(text, delimiter=self.delimiter, lineterminator=self.newline).writerows(self.rows)
        return (BOM * self.bom + text.getvalue()).encode()


def read_table(path: Path) -> Table:
    """A CSV file as cells. Raises Unusable for any other file."""
    try:
        if path.stat().st_size > LARGEST:
            raise Unusable(f"{path} is larger than {LARGEST >> 20} MiB: it is not a table of marks.")
        return _parsed(path, path.read_bytes())
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}.") from None


def values_of(content: bytes) -> bytes:
    """What the cells of a table say, in whatever form a spreadsheet has saved it; other bytes as they are."""
    try:
        rows = _parsed(Path(), content).rows
    except Unusable:
        return content
    values = [{place: _value(cell) for place, cell in enumerate(row) if cell.strip()} for row in rows]
    return repr([row for row in values if row]).encode()


def _value(cell: str) -> float | list[str]:
    number = number_in(cell)
    return cell.split() if number is None else number


def _parsed(path: Path, content: bytes) -> Table:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        remedy = "Export it anew as CSV in UTF-8; a spreadsheet may have saved it in another encoding."
        raise Unusable(f"{path} is not UTF-8 text (byte {error.start}). {remedy}") from None
    plain = text.removeprefix(BOM)
    csv.field_size_limit(LARGEST)  # a worksheet holds whole texts of students
    try:
        delimiter = max(",;\t", key=lambda sign: _fit(plain, sign))
        reader = csv.reader(io.StringIO(plain, newline=""), delimiter=delimiter, strict=True)
        numbered = [(row, reader.line_num) for row in reader]
    except csv.Error as error:
        raise Unusable(f"{path} is not a CSV file: {error}. Export it anew.") from None
    rows = [row for row, _ in numbered]
    if not any(rows):
        raise Unusable(f"{path} is empty. Export it anew.")
    newline = "\r\n" if "\r\n" in text else "\n"
    return Table(path, rows, delimiter, newline, text != plain, [line for _, line in numbered])


def _fit(text: str, delimiter: str) -> tuple[bool, int]:
    """How well a delimiter fits a table, by its first rows: equally long with it, and their cells."""
    rows = islice(filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)), 3)
    lengths = [len(row) for row in rows] or [0]
    return len({*lengths}) == 1 < lengths[0], lengths[0]


def plain_identifier(text: str) -> str:
    """An identifier in one Unicode form and case, so that equal ones are found equal."""
    return unicodedata.normalize("NFC", text.strip()).casefold()


def mark_of(paper: Paper, out_of: float | None) -> str:
    """The points, scaled to `out_of`, with at most two decimals."""
    points = paper.score if out_of is None else paper.score * out_of / max(1, paper.max_score)
    return str(plain_number(points))


def marks_table(papers: Iterable[Paper], names: bool) -> Table:
    """One row for each student and lesson; no score where a part of it is still to come."""
    rows = []
    for paper in papers:
        score = "" if paper.is_withheld else paper.score
        rows.append((paper, (score, paper.max_score, sum(entry.is_open for entry in paper.entries))))
    return _table(("score", "max_score", "not_judged"), rows, names)


def exercises_table(papers: Iterable[Paper], names: bool) -> Table:
    """One row for each student and exercise, prose cells too."""
    titles = "exercise", "status", "points", "max_points", "misconception", "comment"

    def cells(e):
        points = "" if e.is_open else e.points
        misconception = getattr(e.verdict, "misconception", None) or ""
        return (e.name, e.status, points, plain_number(e.max_points), misconception, e.comment)

    return _table(titles, [(paper, cells(entry)) for paper in papers for entry in paper.entries], names)


def _table(titles: Sequence[str], rows: Iterable[tuple[Paper, tuple]], names: bool) -> Table:
    """Rows of cells behind those that say whose and of which lesson they are."""
    named = lambda name: [name] if names else []
    header = ["student", *named("name"), "lesson", *titles]
    body = [[paper.student, *named(paper.name), paper.lesson, *cells] for paper, cells in rows]
    return Table(Path(), [header, *([plain_cell(cell) for cell in row] for row in body)], bom=True)


def plain_cell(value: object) -> str:
    """The cell's text; what a spreadsheet would compute is put behind an apostrophe."""
    text = str(value).replace("\x00", "")
    if isinstance(value, int | float):
        return text
    return f"'{text}" if text.lstrip(" \u00a0\ufeff").startswith(FORMULA) else text


def bare_cell(text: str) -> str:
    """What a cell of an exported table holds, without the apostrophe of plain_cell, in Unicode form NFC."""
    text = unicodedata.normalize("NFC", text)
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text


def number_in(text: str) -> float | None:
    """The number in a cell, None for other text; Canvas and Moodle write decimal points or commas."""
    text = re.sub(r"\s", "", text)
    if re.fullmatch(r"-?[\d.]*,\d+", text):
        text = text.replace(".", "").replace(",", ".")
    text = text.replace(",", "")
    if re.fullmatch(r"-?(\d+\.?\d*|\.\d+)", text, re.ASCII):
        return float(text)
    return None
