"""Where a notebook calls `check` on an answer, under whatever name it calls it.

`from course import check as c`, `course.check`, `test = check`, and a function of the notebook's own that
passes one of its parameters to check are all the same to a learner.
"""

import ast
from collections.abc import Iterable, Iterator

CHECK = "check"
KEYWORD = "function"  # the name of check's first parameter


def checkers(statements: Iterable[ast.stmt]) -> set[str]:
    """The names by which these statements call check."""
    statements = [*statements]
    names = {CHECK}
    before = 0
    while len(names) > before:
        before = len(names)
        names.update(name for statement in statements for name in _names_for_check(statement, names))
    return names


def checked_name(call: ast.AST, names: set[str]) -> str | None:
    """The name that a call of check is given; None for every other node."""
    if not (isinstance(call, ast.Call) and _stands_for_check(call.func, names)):
        return None
    keywords = (keyword.value for keyword in call.keywords if keyword.arg == KEYWORD)
    first = next(iter(call.args), None) or next(keywords, None)
    return first.id if isinstance(first, ast.Name) else None


def is_stored(call: ast.Call) -> bool:
    """Is the verdict stored? Practice is not."""
    return all(keyword.arg != "practice" for keyword in call.keywords)


def _stands_for_check(expression: ast.expr, names: set[str]) -> bool:
    is_name = isinstance(expression, ast.Name) and expression.id in names
    return is_name or (isinstance(expression, ast.Attribute) and expression.attr == CHECK)


def _names_for_check(statement: ast.stmt, names: set[str]) -> Iterator[str]:
    if isinstance(statement, ast.ImportFrom):
        yield from (alias.asname for alias in statement.names if alias.name == CHECK and alias.asname)
    elif isinstance(statement, ast.Assign) and _stands_for_check(statement.value, names):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.FunctionDef):
        parameters = {part.arg for part in ast.walk(statement.args) if isinstance(part, ast.arg)}
        calls = [node for node in ast.walk(statement) if checked_name(node, names) in parameters]
        if any(map(is_stored, calls)):
            yield statement.name
