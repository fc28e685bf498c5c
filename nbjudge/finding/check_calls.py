"""Where a notebook calls `check` on an answer, under whatever name it calls it.

`from course import check as c`, `course.check`, `test = check`, `map(check, answers)` and a function of the
notebook's own that calls check are all the same to a learner.
"""

import ast
from collections.abc import Iterable

CHECK = "check"
ALIASES = (ast.Name, ast.Attribute, ast.Lambda)  # expressions that give check, or what calls it, another name


def checkers(statements: Iterable[ast.stmt]) -> dict[str, set[str]]:
    """The names by which these statements call check, and what each of them names beside it."""
    known: dict[str, set[str]] = {CHECK: set()}
    for statement in statements:
        if beside := checked_names(statement, known):
            known.update(dict.fromkeys(_names_for_check(statement), beside))
    return known


def checked_names(node: ast.AST, known: dict[str, set[str]]) -> set[str]:
    """All that stands beside a name for check, answers among them; empty without one, and for practice."""
    keywords = [(call, keyword) for call in ast.walk(node) for keyword in getattr(call, "keywords", ())]
    practice = {part for call, word in keywords if word.arg == "practice" for part in ast.walk(call)}
    parts = [part for part in ast.walk(node) if part not in practice]
    names = {getattr(part, "id", None) or getattr(part, "attr", None) for part in parts}
    names |= {part.name for part in parts if isinstance(part, ast.alias)}
    return names.union(*(known[name] for name in names & known.keys())) if names & known.keys() else set()


def _names_for_check(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.ImportFrom):
        return [alias.asname or alias.name for alias in statement.names if alias.name == CHECK]
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    is_alias = isinstance(statement, ast.Assign) and isinstance(statement.value, ALIASES)
    return [target.id for target in statement.targets if isinstance(target, ast.Name)] if is_alias else []
