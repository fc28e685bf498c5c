"""A notebook file as a list of parsed cells: only what its author typed, whatever else the file holds.

Outputs are not looked at, nor metadata but the version of Python. A cell that Python cannot parse keeps its
error and disturbs no other cell. Magics and shell lines are blanked, so that line numbers stay those of the
cell.
"""

import ast
import json
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nbjudge.finding import magics
from nbjudge.finding.notebook_file import BOM, Unusable, notebook_text

MAX_SOURCE = 8 << 20  # characters of a notebook's cells together: parsed, they take 200 times as many bytes
TEXTS = {"markdown": "Markdown", "raw": "raw text"}  # kinds of cells that do not run
DEFINITION = re.compile(r"^def (\w+)", re.MULTILINE)
TOO_LONG = f"up to this cell the notebook holds more than {MAX_SOURCE >> 20} MiB of program text"


class CodeCell(NamedTuple):
    """A code cell as Python reads it."""

    number: int  # among all cells of the notebook, from 1
    text: str  # magics blanked
    statements: list[ast.stmt]
    error: SyntaxError | None = None
    magics: Sequence[str] = ()  # its lines that do not run and may give names
    newer: str = ""  # the version of Python that wrote the notebook, where it is above this one
    kind: str = "code"  # else the cell does not run, and nothing is kept of it but `named`
    named: Sequence[str] = ()  # functions that its text defines

    @property
    def label(self) -> str:
        return f"cell {self.number}"


def read(path: Path) -> list[CodeCell]:
    """The code cells of a notebook file."""
    return cells(notebook_text(path), path)


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
            parsed.append(parse(n, text)._replace(newer=newer))
        elif named := DEFINITION.findall(text):
            parsed.append(CodeCell(n, "", [], kind=TEXTS[kind], named=named))
    return parsed


def _newer_python(book: dict) -> str:
    """ "3.14" where a newer Python than this one wrote the notebook; else empty."""
    metadata = book.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    version = info.get("version") if isinstance(info, dict) else None
    match = re.match(r"3\.(\d{1,3})(?!\d)", version) if isinstance(version, str) else None
    if match is None or int(match[1]) <= sys.version_info.minor:
        return ""
    return match[0]


def parse(number: int, text: str) -> CodeCell:
    """One cell; its magics are blanked only where Python does not take the text as it is."""
    text = magics.unfolded(magics.tidied(text))
    try:
        return CodeCell(number, text, _statements(text))
    except SyntaxError:
        plain = magics.blanked(text)
    lines = [f"cell {number}, line {line}: {magic[:100]}" for line, magic in magics.may_give_names(text)]
    try:
        return CodeCell(number, plain, _statements(plain), magics=lines)
    except SyntaxError as error:
        return CodeCell(number, plain, [], error, lines)


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
