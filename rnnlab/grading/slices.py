"""From a notebook to one answer: the statements that the exercise's function needs, directly or through
others.

Only imports, definitions and assignments can be needed; what a notebook prints, plots or trains stays out. Of
several definitions of one name the untouched stubs are left out if there is another: a copied cell never
hides an answer.
"""

import ast
import re
import symtable
from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from typing import NamedTuple

from rnnlab.grading.reading import Cell
from rnnlab.grading.verdict import Status, Stopped
from rnnlab.grading.worker import Answer

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
IMPORTS = (ast.Import, ast.ImportFrom)
CHOICES = (ast.If, ast.Try)  # an import or a definition may stand in one


class Binding(NamedTuple):
    """A statement at the top of a cell, with the names that it gives and those that it needs."""

    cell: Cell
    index: int  # among the statements of its cell
    statement: ast.stmt
    gives: frozenset[str]
    at_once: frozenset[str]  # names that it needs when it runs
    later: frozenset[str]  # names that its functions need when they are called

    @property
    def is_stub(self) -> bool:
        """A definition whose whole body is `raise NotImplementedError`, below its docstring."""
        if not isinstance(self.statement, DEFINITIONS):
            return False
        body = self.statement.body[ast.get_docstring(self.statement) is not None :]
        return (
            len(body) == 1 and isinstance(body[0], ast.Raise) and "NotImplementedError" in ast.dump(body[0])
        )


def answer_in(cells: list[Cell], name: str) -> Answer:
    """What has to run for `name`; Stopped if there is nothing to judge."""
    bindings = [binding for cell in cells for binding in _bindings(cell)]
    own = [binding for binding in bindings if name in binding.gives]
    if not _attempts(own, name):
        raise _nothing_to_judge(cells, bindings, name, stub=bool(own))
    chosen, names = _needed(bindings, name)
    parts = []
    for cell in cells:
        of_cell = [binding.index for binding in chosen if binding.cell is cell]
        if of_cell:
            parts.append((cell.label, cell.text, sorted(of_cell)))
    return Answer(name, parts, sorted(names))


def defined(cells: list[Cell]) -> set[str]:
    """All names that the cells give at their top level, those of cells with a syntax error too."""
    parsed = {name for cell in cells for binding in _bindings(cell) for name in binding.gives}
    return parsed | {
        name for cell in cells if cell.error for name in re.findall(r"^def (\w+)", cell.text, re.M)
    }


def _attempts(bindings: list[Binding], name: str) -> list[Binding]:
    """Those that give the name a meaning of their own: no stub, and not made from the name itself."""
    return [binding for binding in bindings if not binding.is_stub and name not in binding.at_once]


def _nothing_to_judge(cells: list[Cell], bindings: list[Binding], name: str, stub: bool) -> Stopped:
    for cell in cells:
        if cell.error and re.search(rf"^\s*(def\s+{name}\b|{name}\s*=)", cell.text, re.M):
            said = f"SyntaxError: {cell.error.msg}\nin {cell.label}, line {cell.error.lineno}"
            line = (cell.error.text or "").strip()
            return Stopped(Status.crashed, f"{said}: {line}" if line else said)
    if stub:
        return Stopped(Status.not_attempted, f"{name} still raises NotImplementedError.")
    made = [
        each for binding in bindings if isinstance(binding.statement, DEFINITIONS) for each in binding.gives
    ]
    near = get_close_matches(name, made, 1, 0.6)
    said = f"The notebook defines {near[0]}; was that meant?" if near else "Its cell is missing."
    return Stopped(Status.not_attempted, f"No function is called {name}. {said}")


def _needed(bindings: list[Binding], name: str) -> tuple[list[Binding], set[str]]:
    """(bindings to run for `name`, names they are for), found by following names until no new one turns
    up."""
    chosen = [binding for binding in bindings if "*" in binding.gives]
    followed: set[str] = set()
    waiting = {name}
    while waiting:
        following = waiting.pop()
        followed.add(following)
        giving = [binding for binding in bindings if following in binding.gives]
        if _attempts(giving, following):
            giving = [binding for binding in giving if not binding.is_stub]
        for binding in giving:
            chosen.append(binding)
            waiting |= (binding.at_once | binding.later) - followed
    return chosen, followed


def _bindings(cell: Cell) -> Iterator[Binding]:
    for index, statement in enumerate(cell.statements):
        if isinstance(statement, (*DEFINITIONS, *ASSIGNMENTS, *IMPORTS, *CHOICES)):
            with suppress(
                RecursionError, SyntaxError
            ):  # nested too deeply, or a name used before its `global`
                yield Binding(cell, index, statement, *_names(statement))


def _names(statement: ast.stmt) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """(given, needed at once, needed later) by a statement, as Python's own compiler sees its scopes."""
    table = symtable.symtable(ast.unparse(statement), "<cell>", "exec")
    gives = {
        symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()
    }
    at_once = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    if isinstance(statement, ast.AugAssign):
        at_once |= gives
    if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
        gives.add("*")
    return frozenset(gives), frozenset(at_once), frozenset(_of_inner_scopes(table))


def _of_inner_scopes(table: symtable.SymbolTable) -> Iterator[str]:
    for inner in table.get_children():
        yield from (symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global())
        yield from _of_inner_scopes(inner)
