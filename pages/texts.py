"""Every text that a learner sees, as one catalogue for translators: `python -m pages.texts [FILE]`.

The catalogue is a gettext template, build/rnnlab.pot, which Poedit, Weblate and their like open.  An entry
is a paragraph of a lesson, a statement or a hint, the name of a mistake, or a sentence in the code, each
with its file and line; `{...}` stands for what the program inserts.  Nothing is wrapped in calls of gettext:
the catalogue says what is to be translated and where it stands, CONTRIBUTING.md says how.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

import rnnlab
from rnnlab.files import ROOT
from rnnlab.percent import parse

SOURCES = "notebooks/source/*.py", "solutions/source/*.py", "solutions/source/*/*.py"
PROGRAMS = "rnnlab/**/*.py", "drawings/*.py", "pages/build.py", "pages/front.py", "pages/records.py"
SHOWN = ("markdown", "hint", "mistake", "code")  # kinds of cells that a learner meets
WORDS = re.compile(r"[^\W\d_]{2,}[^\n]*\s+[^\W\d_]{2,}")  # two words: a name or a format has one
MARKUP = re.compile(r"""\w=["']""")  # attributes of a drawing
PARAGRAPH = re.compile(r"(?:[^\n]+\n?)+")


class Text(NamedTuple):
    """One entry of the catalogue."""

    words: str
    file: str  # from the clone's first folder
    line: int
    kind: str  # of the cell, or "message"


def main(arguments: list[str]) -> int:
    """Write the catalogue, and print its size."""
    path = Path(arguments[0]) if arguments else ROOT / "build/rnnlab.pot"
    entries = catalogue()
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        write_po(file, entries, width=0)
    print(f"{path}: {len(entries)} texts, {sum(len(entry.id.split()) for entry in entries):,} words")
    return 0


def catalogue() -> Catalog:
    """All texts, each once, with every place where it stands."""
    entries = Catalog(project="rnnlab", version=rnnlab.__version__, charset="utf-8")
    for text in texts():
        entries.add(text.words, locations=[(text.file, text.line)], auto_comments=[text.kind])
    return entries


def texts() -> Iterator[Text]:
    """Texts of lessons and exercises in their order, then those of the package."""
    for file, source in files(SOURCES):
        yield from texts_of_source(source, file)
    for file, source in files(PROGRAMS):
        yield from (Text(words, file, line, "message") for words, line in sentences(source))


def files(patterns: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(path from the clone's first folder, text) of the files that the patterns name."""
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def texts_of_source(source: str, file: str) -> Iterator[Text]:
    """Texts of a lesson's or an exercise's source: paragraphs, names of mistakes, strings in code."""
    for cell in parse(source, file):
        if cell.kind == "mistake":
            yield Text(cell.title, file, cell.opening, cell.kind)
        elif cell.kind == "code":
            for words, line in sentences(cell.text, docstrings=True):
                yield Text(words, file, cell.line + line - 1, cell.kind)
        elif cell.kind in SHOWN:
            for match in PARAGRAPH.finditer(cell.text):
                line = cell.line + cell.text.count("\n", 0, match.start())
                yield Text(match[0].rstrip("\n"), file, line, cell.kind)


def sentences(source: str, docstrings: bool = False) -> Iterator[tuple[str, int]]:
    """(text, line) of the strings of a program that hold two words or more and are no program themselves.

    Docstrings are for those who read the package; in an exercise the learner reads them.
    """
    nodes = [*ast.walk(ast.parse(source))]
    left_out = set()
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            left_out.update(node.values)
        elif isinstance(node, ast.Expr) and not docstrings:
            left_out.add(node.value)
    for node in nodes:
        if node not in left_out and (words := template(node)) and is_text(words):
            yield words, node.lineno


def template(node: ast.AST) -> str | None:
    """A string as translators see it, with {expression} for each value; None for any other node."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    parts = (part.value if isinstance(part, ast.Constant) else placeholder(part) for part in node.values)
    return "".join(parts)


def placeholder(value: ast.FormattedValue) -> str:
    """The expression of an f-string in braces, without its format."""
    return f"{{{ast.unparse(value.value)}}}"


def is_text(words: str) -> bool:
    """Whether a string is a text for people: two words at least, no markup, and no program."""
    if MARKUP.search(words) or not WORDS.search(words):
        return False
    if not re.search(r"[=()\[\]:]", words):  # "row or column" could be a program, too
        return True
    try:
        ast.parse(words)
    except (SyntaxError, ValueError):
        return True
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
