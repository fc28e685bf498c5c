"""The statements at the top of a notebook's cells, and the program that some of them make."""

import ast
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from nbjudge.finding.effects import ANYTHING, Scope
from nbjudge.finding.reading import CodeCell

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)


class CellStatement(NamedTuple):
    """A statement at the top of a cell, and what it does."""

    cell: CodeCell
    index: int  # among the statements of its cell
    tree: ast.stmt
    scope: Scope

    @property
    def lines(self) -> slice:
        """Its lines among those of the cell, with its decorators."""
        return slice(first_line(self.tree) - 1, self.tree.end_lineno)

    @property
    def gives(self) -> set[str]:
        """The names that get a value in its own text."""
        return {site.name for site in self.scope.sites if site.kind != "deletion"}

    @property
    def is_unrun(self) -> bool:
        """Does it stand below the line at which its cell stopped with an error?"""
        return self.cell.ran_to is not None and first_line(self.tree) > self.cell.ran_to

    @property
    def is_stub(self) -> bool:
        """Is it a definition whose whole body is `raise NotImplementedError`, below its docstring?"""
        if not isinstance(self.tree, DEFINITIONS):
            return False
        body = self.tree.body[ast.get_docstring(self.tree) is not None :]
        if len(body) != 1 or not isinstance(body[0], ast.Raise):
            return False
        return "NotImplementedError" in ast.dump(body[0])

    @property
    def is_result(self) -> bool:
        """Does it compute, where a definition or an import gives a name?"""
        return not isinstance(self.tree, (*DEFINITIONS, *IMPORTS))

    @property
    def is_shown(self) -> bool:
        """Is it the last expression of a cell, whose value is displayed?"""
        return self.cell.shows and self.index == len(self.cell.statements) - 1

    def attempts(self, name: str) -> bool:
        """Does it, which binds the name, give it a meaning of its own?

        A stub does not, nor a deletion, nor what is made from the name itself. A call may, without any text.
        """
        sites = [site for site in self.scope.sites if site.name == name]
        if not sites:
            return True
        if self.is_stub:
            return False
        values = [site for site in sites if site.kind != "deletion"]
        return any(site.kind != "value" or not _uses(site.source, name) for site in values)


def ordered(statements: list[CellStatement]) -> list[CellStatement]:
    """In the notebook's order, but imports first whose names nothing else gives."""
    others = {ANYTHING}
    for statement in statements:
        if not isinstance(statement.tree, IMPORTS):
            others |= statement.gives

    def rank(statement):
        """0 for an import from __future__, 1 for another one, 2 for what keeps its place."""
        if getattr(statement.tree, "module", "") == "__future__":
            return 0
        is_import = isinstance(statement.tree, IMPORTS)
        return 1 if is_import and not statement.gives & others else 2

    return sorted(statements, key=rank)


def program_piece(statements: list[CellStatement]) -> tuple[str, str, list[int]]:
    """(label, source, indices) of some statements of a cell. All other lines are empty, so that a line keeps
    its number and a picture in a text is not sent along."""
    cell = statements[0].cell
    chosen = [statement.index for statement in statements]
    spans = [range(first_line(statement), statement.end_lineno + 1) for statement in cell.statements]
    wanted = set().union(*(spans[index] for index in chosen))
    size = 0
    while len(wanted) > size:  # statements that share a line stay together
        size = len(wanted)
        for span in spans:
            if span[0] in wanted or span[-1] in wanted:
                wanted.update(span)
    lines = cell.text.split("\n")
    text = "\n".join(line if number in wanted else "" for number, line in enumerate(lines, 1))
    remaining = [index for index, span in enumerate(spans) if span[0] in wanted]
    places = {index: place for place, index in enumerate(remaining)}
    return cell.label, text.rstrip("\n"), [places[index] for index in chosen]


def first_line(statement: ast.stmt) -> int:
    """The line that a statement begins on, with its decorators."""
    return min([statement.lineno, *(part.lineno for part in getattr(statement, "decorator_list", ()))])


def statements_of(cell: CodeCell) -> Iterator[CellStatement]:
    """The statements at the top of a cell."""
    for index, tree in enumerate(cell.statements):
        with suppress(RecursionError):  # nested too deeply for anybody to have written it
            yield CellStatement(cell, index, tree, Scope([tree]))


def _uses(expression: ast.expr, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(expression))
