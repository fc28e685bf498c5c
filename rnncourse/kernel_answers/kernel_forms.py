"""What learners write beside a kernel in another form than imports and functions, brought into these forms.

`f = lambda v: …`, and a lambda that cuda.jit compiles, become a function of one line. A `try` whose blocks
only import becomes all of its imports: `from numba import cuda` and `from rnnlab import cuda` are one thing.
"""

import ast
import copy
from collections.abc import Iterator

EMPTY = ast.Pass, ast.Raise  # what a block may hold besides imports
IMPORTS = ast.Import, ast.ImportFrom
ASSIGNMENTS = ast.Assign, ast.AnnAssign, ast.AugAssign


def names_in(*trees: ast.AST) -> set[str]:
    """The variables that stand in trees."""
    return {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}


def targets_of(statement: ast.stmt) -> list[ast.expr]:
    """What an assignment gives a value; nothing for other statements."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ASSIGNMENTS) else []


def bound_name(alias: ast.alias) -> str:
    """The name that an import binds: `a` of `import a.b`, `c` of `import a.b as c`."""
    return alias.asname or alias.name.partition(".")[0]


def called(decorator: ast.expr) -> ast.expr:
    """The function in `@function` and in `@function(…)`."""
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def plain_forms(source: str, place: int, tree: ast.stmt) -> Iterator[tuple[str, int, ast.stmt]]:
    """(source, place in it, tree) of the statements that say the same, or of this one."""
    if isinstance(tree, ast.Try) and (imports := imported(tree)):
        yield from ((source, place, statement) for statement in imports)
    elif (text := _as_function(tree)) is not None:
        yield text, 0, ast.parse(text).body[0]
    else:
        yield source, place, tree


def imported(tree: ast.Try) -> list[ast.stmt]:
    """The imports of a `try` that does nothing else; empty for any other."""
    blocks = [tree.body, tree.orelse, tree.finalbody, *(handler.body for handler in tree.handlers)]
    statements = [statement for block in blocks for statement in block]
    imports = [s for s in statements if isinstance(s, IMPORTS)]
    others = [s for s in statements if s not in imports and not _is_empty(s)]
    return [] if others else imports


def _is_empty(statement: ast.stmt) -> bool:
    """Does it do nothing that an answer could need: pass, raise, print?"""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return getattr(statement.value.func, "id", None) == "print"
    return isinstance(statement, EMPTY)


def _as_function(tree: ast.stmt) -> str | None:
    """The text of a function in one line for `name = lambda …` or `name = cuda.jit(…)(lambda …)`."""
    if not isinstance(tree, ast.Assign):
        return None
    target, *others = tree.targets
    if others or not isinstance(target, ast.Name):
        return None
    decorator, function = _parts(tree.value)
    if not isinstance(function, ast.Lambda):
        return None
    head = f"def {target.id}({ast.unparse(function.args)}): return {ast.unparse(function.body)}"
    if decorator is None:
        return "\n" * (tree.lineno - 1) + head
    # the line of the function is kept where there is room for the decorator above it
    return "\n" * max(0, tree.lineno - 2) + f"@{ast.unparse(decorator)}\n{head}"


def _parts(value: ast.expr) -> tuple[ast.expr | None, ast.expr]:
    """(decorator, function) of `cuda.jit(…)(function)` or `cuda.jit(function, …)`, else (None, value)."""
    if not isinstance(value, ast.Call) or len(value.args) != 1:
        return None, value
    if isinstance(value.func, ast.Call) and not value.keywords:
        return value.func, value.args[0]
    decorator = copy.copy(value)
    decorator.args = []
    return (decorator if value.keywords else value.func), value.args[0]
