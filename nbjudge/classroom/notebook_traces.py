"""The text of one answer, for people to look at: it decides nothing."""

import ast
import re
from collections.abc import Collection
from pathlib import Path

from nbjudge.finding.notebook import DEFINITIONS, Notebook, is_stub
from nbjudge.finding.notebook_file import Unusable
from nbjudge.printable import printable

LONGEST = 40  # lines of an answer that are shown


def answer_text(file: Path, exercise: str) -> str:
    """The last definition of the exercise's function in a notebook; empty if none can be read."""
    try:
        notebook = Notebook.read(file)
    except Unusable:
        return ""
    return definition(notebook, exercise)


def definition(notebook: Notebook, exercise: str) -> str:
    """The last definition of a function, as its author wrote it; empty if the notebook lacks one."""
    return printable(shorten(definitions(notebook, exercise).get(exercise, "")))


def definitions(notebook: Notebook, exercise: str = "") -> dict[str, str]:
    """{function or class: its last definition at the top of a cell}, decorators included.

    An untouched stub counts only where nothing else defines its name. Another name of a function counts as a
    definition, and so does whatever is assigned to `exercise`.
    """
    texts: dict[str, str] = {}
    for cell in notebook.cells:
        lines = cell.text.split("\n")
        for statement in cell.statements:
            decorators = getattr(statement, "decorator_list", ())
            first = min([statement.lineno, *(part.lineno for part in decorators)])
            text = "\n".join(lines[first - 1 : statement.end_lineno])
            names = _names(statement, exercise)
            texts |= {name: text for name in names if name not in texts or not is_stub(statement)}
    return texts


def _names(statement: ast.stmt, exercise: str) -> list[str]:
    if isinstance(statement, DEFINITIONS):
        return [statement.name]
    if isinstance(statement, ast.If | ast.Try | ast.With):
        return [
            name
            for part in (*statement.body, *getattr(statement, "orelse", ()))
            for name in _names(part, exercise)
        ]
    if not isinstance(statement, ast.Assign):
        return []
    names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
    is_function = isinstance(statement.value, ast.Lambda | ast.Name | ast.Attribute)
    return names if is_function else [name for name in names if name == exercise]


def own_program(notebook: Notebook, exercise: str, known: Collection[str]) -> str:
    """The exercise's function with the functions and classes of the notebook that it uses, but for those in
    `known`."""
    texts = definitions(notebook, exercise)
    chosen = {}
    waiting = [exercise]
    while waiting:
        name = waiting.pop()
        if name in texts and name not in chosen:
            chosen[name] = texts[name]
            words = re.findall(r"[A-Za-z_]\w*", texts[name])
            waiting += [word for word in dict.fromkeys(words) if word not in known]
    return "\n".join(chosen.values())


def shorten(text: str) -> str:
    """The text, with a sign where lines beyond LONGEST are left out."""
    lines = text.split("\n")
    return "\n".join([*lines[:LONGEST], "…"] if len(lines) > LONGEST else lines)
