"""Predictions of a lesson: `my_guess = ...` stands for none, and prints as "none".

A cell that prints a number which nobody wrote would claim a guess.  So a lesson assigns Python's own `...`,
which the reader replaces; until then it becomes NOTHING, which any line of a lesson can print, format and
calculate with.
"""

import ast
import re

NAME = re.compile(r"(my_)?guess\w*$|my_(factor|prediction)\w*$")


class NoGuess(str):
    """Takes the place of a number, a word or a part of a guess, and leaves nothing of either."""

    __slots__ = ()

    def __format__(self, specification: str) -> str:
        return str(self)

    def __repr__(self) -> str:
        return str(self)

    def _itself(self, *others: object) -> "NoGuess":
        return self

    def _false(self, other: object) -> bool:
        return False

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _itself
    __truediv__ = __rtruediv__ = __neg__ = __abs__ = __getitem__ = __round__ = _itself
    __lt__ = __le__ = __gt__ = __ge__ = _false


NOTHING = NoGuess("none")


class Guesses(ast.NodeTransformer):
    """Replaces `...` by NOTHING where a cell assigns it to a guess."""

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        names = [name.id for name in ast.walk(node.targets[0]) if isinstance(name, ast.Name)]
        if any(NAME.match(name) for name in names):
            node.value = _Nothing().visit(node.value)
        return node


class _Nothing(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if node.value is not ...:
            return node
        source = f"__import__({__name__!r}, fromlist=['NOTHING']).NOTHING"
        return ast.copy_location(ast.parse(source, mode="eval").body, node)


def prepare(shell: object) -> None:
    """Let the cells of an IPython shell have guesses that nobody has made; a second call changes nothing."""
    transformers = shell.ast_transformers
    if not any(isinstance(transformer, Guesses) for transformer in transformers):
        transformers.append(Guesses())
