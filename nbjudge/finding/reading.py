"""A notebook file as a list of parsed cells: only what its author typed, whatever else the file holds.

Outputs and metadata are never looked at. A cell that Python cannot parse keeps its error and disturbs no
other cell. Magics and shell lines are blanked, so that line numbers stay those of the cell.
"""

import ast
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nbjudge.finding import magics
from nbjudge.finding.notebook_file import BOM, Unusable, notebook_text

MAX_SOURCE = 8 << 20  # characters of a notebook's cells together: parsed, they take 200 times as many bytes
TOO_LONG = f"up to this cell the notebook holds more than {MAX_SOURCE >> 20} MiB of program text"


class Cell(NamedTuple):
    """A code cell as Python reads it."""

    number: int  # among all cells of the notebook, from 1
    text: str  # magics blanked
    statements: list[ast.stmt]
    error: SyntaxError | None = None
    magics: Sequence[str] = ()  # its lines that do not run and may give names

    @property
    def label(self) -> str:
        return f"cell {self.number}"


def read(path: Path) -> list[Cell]:
    """The code cells of a notebook file."""
    return cells(notebook_text(path), path)


def cells(text: str, path: Path) -> list[Cell]:
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
    code = [
        (n, cell)
        for n, cell in enumerate(entries, 1)
        if isinstance(cell, dict) and cell.get("cell_type") == "code"
    ]
    parsed = []
    room = MAX_SOURCE
    for n, cell in code:
        text = _source(cell)
        room -= len(text)
        parsed.append(parse(n, text) if room >= 0 else Cell(n, text, [], SyntaxError(TOO_LONG)))
    return parsed


def parse(number: int, text: str) -> Cell:
    """One cell; its magics are blanked only where Python does not take the text as it is."""
    text = magics.tidied(text)
    try:
        return Cell(number, text, _statements(text))
    except SyntaxError:
        plain = magics.blanked(text)
    lines = [f"cell {number}, line {line}: {magic[:100]}" for line, magic in magics.may_give_names(text)]
    try:
        return Cell(number, plain, _statements(plain), magics=lines)
    except SyntaxError as error:
        return Cell(number, plain, [], error, lines)


def _statements(text: str) -> list[ast.stmt]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in a learner's text is not ours to report
        try:
            return compile(text, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT).body
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or "this cell is nested too deeply") from None


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
