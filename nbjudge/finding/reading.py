"""A notebook file as a list of parsed cells: only what its author typed, whatever else the file holds.

Of outputs, errors alone are looked at: they say which line a cell stopped at. Of metadata, the version of
Python is. A cell that Python cannot parse keeps its error and disturbs no other cell. Magics and shell lines
are blanked, so that line numbers stay those of the cell.
"""

import ast
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nbjudge.finding import magics
from nbjudge.finding.notebook_file import BOM, Unusable

MAX_SOURCE = 8 << 20  # characters of a notebook's cells together: parsed, they take 200 times as many bytes
MOST_CELLS = 1 << 20  # that a kernel may have run: a larger count was written by hand
TEXTS = {"markdown": "Markdown", "raw": "raw text"}  # kinds of cells that do not run
ARROW = re.compile(r"^-+> ?(\d{1,6})\b ?(.*)$", re.MULTILINE)  # before a line in IPython's traceback
MAGIC_CALL = "get_ipython().run_"  # begins what IPython has made of a magic
INSIDE = re.compile(r"^File <(?:timed exec|string)>:(\d{1,6})", re.MULTILINE)  # what %%time, %%prun run
COLOUR = re.compile(r"\x1b\[[\d;]*m")
DEFINITION = re.compile(r"^\s*(?:(?:async\s+)?def\s+|(?=\w+\s*=[^=]))(\w+)", re.MULTILINE)
IN_PROSE = re.compile(DEFINITION.pattern.replace("[^=]", r"\s*lambda\b"), re.MULTILINE)  # not a formula
TOO_LONG = f"up to this cell the notebook holds more than {MAX_SOURCE >> 20} MiB of program text"


class CodeCell(NamedTuple):
    """A code cell as Python reads it."""

    number: int  # among all cells of the notebook, from 1
    text: str  # magics blanked
    statements: list[ast.stmt]
    error: SyntaxError | None = None
    magics: Sequence[str] = ()  # its lines that do not run and may give names
    newer: str = ""  # the version of Python that wrote the notebook, where it is above this one
    kind: str = "code"  # else the cell does not run
    ran_to: int | None = None  # the last line that ran before an error; None without one
    in_turn: bool = False  # do the counts of the notebook say that each cell ran once, in order?
    shows: bool = False  # is the value of its last expression displayed, so that IPython keeps it?
    count: int | None = None  # by which In and Out name it, as the notebook was saved

    @property
    def label(self) -> str:
        return f"cell {self.number}"

    @property
    def named(self) -> list[str]:
        """Functions that its text defines, where it does not run or cannot be parsed."""
        pattern = DEFINITION if self.kind == "code" else IN_PROSE
        return [] if self.statements else pattern.findall(self.text)


def cells(text: str, path: Path) -> list[CodeCell]:
    """The code cells of a notebook's text."""
    if not text.strip():
        raise Unusable(f"{path} is not a notebook: it is empty. Save it again in JupyterLab.")
    try:
        book = json.loads(text.removeprefix(BOM), parse_int=float)  # an int of 5,000 digits is refused
    except (ValueError, RecursionError) as error:
        raise Unusable(f"{path} is not a notebook: {error}. Save it again in JupyterLab.") from None
    entries = book.get("cells") if isinstance(book, dict) else None
    if entries is None and isinstance(book, dict):
        entries = _of_old_format(book)
    if not isinstance(entries, list):
        raise Unusable(f"{path} is JSON but not a notebook: it has no list of cells. Save it in JupyterLab.")
    newer = _newer_python(book)
    in_turn = _ran_in_turn(entries)
    parsed = []
    room = MAX_SOURCE
    for n, cell in enumerate(entries, 1):
        kind = cell.get("cell_type") if isinstance(cell, dict) else None
        if kind not in ("code", *TEXTS):
            continue
        text = _source(cell)
        room -= len(text)
        if room < 0:
            parsed += [CodeCell(n, text, [], SyntaxError(TOO_LONG))] if kind == "code" else []
        elif kind == "code":
            code = parse(n, text)
            ran_to = _ran_to(cell, code)
            count = cell.get("execution_count")
            count = int(count) if isinstance(count, float) and abs(count) < MOST_CELLS else None
            ran_once = in_turn and count is not None
            parsed.append(code._replace(newer=newer, ran_to=ran_to, in_turn=ran_once, count=count))
        else:
            parsed.append(CodeCell(n, text, [], kind=TEXTS[kind]))
    return parsed


def _newer_python(book: dict) -> str:
    """ "3.14" where a newer Python than this one wrote the notebook; else empty."""
    match book:
        case {"metadata": {"language_info": {"version": str(version)}}}:
            number = re.match(r"3\.(\d{1,3})(?!\d)", version)
            if number and int(number[1]) > sys.version_info.minor:
                return number[0]
    return ""


def _ran_in_turn(entries: list) -> bool:
    """Whether the counts of the cells are 1, 2, 3 …: no cell has run twice or in another order."""
    counts = [entry.get("execution_count") for entry in entries if isinstance(entry, dict)]
    known = [count for count in counts if count is not None]
    return known == [*range(1, len(known) + 1)]


def _ran_to(entry: dict, code: CodeCell) -> int | None:
    """The last line of a cell that ran before an error, by what stands in its outputs.

    An error says nothing where the line of its traceback is another one now: the cell was changed since.
    """
    outputs = entry.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        match output:
            case {"output_type": "error" | "pyerr", "traceback": list(trace)}:  # the second is of format 3
                if number := _stopped_at(COLOUR.sub("", "\n".join(map(str, trace))), code):
                    # what misses a name changes nothing before it stops
                    return number - (output.get("ename") == "NameError")
    return code.ran_to


def _stopped_at(trace: str, code: CodeCell) -> int:
    """The line of a cell in a traceback; 0 where it is unknown.

    IPython counts from the first line below empty ones and below `%%capture`; of what `%%time` and `%%prun`
    run it knows the number alone.
    """
    lines = code.text.split("\n")
    above = magics.first_filled(lines)
    arrow = ARROW.search(trace)
    number, shown = (int(arrow[1]), arrow[2].strip()) if arrow else (0, "")
    if shown.startswith(MAGIC_CALL):
        inside = INSIDE.search(trace) if f"{MAGIC_CALL}cell_magic" in shown else None
        return int(inside[1]) + above if inside else number
    same = [at for at in (number, number + above) if 0 < at <= len(lines) and lines[at - 1].strip() == shown]
    return same[0] if same else 0


def parse(number: int, text: str) -> CodeCell:
    """One cell; its magics are blanked only where Python does not take the text as it is."""
    text = magics.unfolded(magics.tidied(text))
    try:
        return _cell(number, text)
    except SyntaxError:
        plain = magics.blanked(text)
    lines = [f"cell {number}, line {line}: {magic[:100]}" for line, magic in magics.left_out(text)]
    try:
        code = _cell(number, plain)._replace(magics=lines)
        return code._replace(shows=code.shows and not text.lstrip().startswith("%%capture"))
    except SyntaxError as error:
        return CodeCell(number, plain, [], error, lines)


def _cell(number: int, text: str) -> CodeCell:
    statements = magics.statements(text)
    ends = [statement.end_lineno for statement in statements if isinstance(statement, ast.Raise)]
    shows = bool(statements) and isinstance(statements[-1], ast.Expr) and not _is_silent(text, statements[-1])
    return CodeCell(number, text, statements, ran_to=min(ends, default=None), shows=shows)


def _is_silent(text: str, last: ast.stmt) -> bool:
    """Whether a semicolon behind the last statement of a cell keeps its value from being displayed."""
    line = text.split("\n")[last.end_lineno - 1].encode(errors="surrogatepass")
    return line[last.end_col_offset :].lstrip().startswith(b";")


def _source(cell: dict) -> str:
    """What stands in a cell: one text, or a list of lines. Half a character of a pair becomes a sign."""
    source = cell.get("source", cell.get("input", ""))
    parts = source if isinstance(source, list) else [source]
    text = "".join(part for part in parts if isinstance(part, str))
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _of_old_format(book: dict) -> list | None:
    """The cells of a notebook of format 3, which kept them in worksheets."""
    sheets = book.get("worksheets")
    if not isinstance(sheets, list):
        return None
    lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    return [cell for cells in lists if isinstance(cells, list) for cell in cells]
