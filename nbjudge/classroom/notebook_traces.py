"""The text of one answer, for people to look at: it decides nothing."""

import ast
import re
from collections.abc import Collection
from pathlib import Path

from nbjudge.finding.effects import Binding
from nbjudge.finding.notebook import Notebook, first_line, statements_of
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
        for statement in statements_of(cell):
            text = "\n".join(lines[first_line(statement.tree) - 1 : statement.tree.end_lineno])
            sites = [site for site in statement.scope.sites if site.name in statement.gives]
            names = {site.name for site in sites if site.name == exercise or _is_definition(site)}
            texts |= {name: text for name in names if name not in texts or not statement.is_stub}
    return texts


def _is_definition(site: Binding) -> bool:
    is_another_name = site.kind == "value" and isinstance(site.source, ast.Lambda | ast.Name | ast.Attribute)
    return site.kind == "definition" or is_another_name


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
