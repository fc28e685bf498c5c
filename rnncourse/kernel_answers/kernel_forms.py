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
    names = set()
    for tree in trees:
        names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names


def stored_names(tree: ast.AST) -> set[str]:
    """The variables that get a value in a tree."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def targets_of(statement: ast.stmt) -> list[ast.expr]:
    """What an assignment gives a value; nothing for other statements."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, ASSIGNMENTS):
        return [statement.target]
    return []


def bound_name(alias: ast.alias) -> str:
    """The name that an import binds: `a` of `import a.b`, `c` of `import a.b as c`."""
    return alias.asname or alias.name.partition(".")[0]


def called(decorator: ast.expr) -> ast.expr:
    """The function in `@function` and in `@function(…)`."""
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def plain_forms(source: str, place: int, tree: ast.stmt) -> Iterator[tuple[str, int, ast.stmt]]:
    """(source, place in it, tree) of the statements that say the same, or of this one."""
    imports = imported(tree) if isinstance(tree, ast.Try) else []
    text = _as_function(tree)
    if imports:
        for statement in imports:
            yield source, place, statement
    elif text is not None:
        yield text, 0, ast.parse(text).body[0]
    else:
        yield source, place, tree


def imported(tree: ast.Try) -> list[ast.stmt]:
    """The imports of a `try` that does nothing else; empty for any other."""
    statements = [*tree.body, *tree.orelse, *tree.finalbody]
    for handler in tree.handlers:
        statements += handler.body
    imports = []
    for statement in statements:
        if isinstance(statement, IMPORTS):
            imports.append(statement)
        elif not _is_empty(statement):
            return []
    return imports


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
    parameters = ast.unparse(function.args)
    result = ast.unparse(function.body)
    text = f"def {target.id}({parameters}): return {result}"
    lines_above = tree.lineno - 1
    if decorator is not None:
        text = f"@{ast.unparse(decorator)}\n{text}"
        lines_above -= 1  # the function keeps its line where there is room for the decorator above it
    return "\n" * max(0, lines_above) + text


def _parts(value: ast.expr) -> tuple[ast.expr | None, ast.expr]:
    """(decorator, function) of `cuda.jit(…)(function)` or `cuda.jit(function, …)`, else (None, value)."""
    if not isinstance(value, ast.Call) or len(value.args) != 1:
        return None, value
    (function,) = value.args
    if not value.keywords:
        return value.func, function
    decorator = copy.copy(value)
    decorator.args = []
    return decorator, function
