"""Where a notebook calls `check` on an answer, under whatever name it calls it.

`from course import check as c`, `course.check`, `test = check`, `map(check, answers)` and a function of the
notebook's own that calls check are all the same to a learner.
"""

import ast
from collections.abc import Iterable

CHECK = "check"
ALIASES = (ast.Name, ast.Attribute, ast.Lambda)  # expressions that give check, or what calls it, another name


class Checks:
    """The statements of a notebook that call check, and what stands beside it."""

    def __init__(self, statements: Iterable[ast.stmt]):
        self.known: dict[str, set[str]] = {CHECK: set()}  # a name that calls check, and those beside it
        statements = [*statements]
        for statement in statements:
            if beside := self._beside(statement):
                self.known.update(dict.fromkeys(_names_for_check(statement), beside))
        self.names = {statement: self._beside(statement) for statement in statements}

    def numbers(self, name: str) -> dict[str, int | str]:
        """The numbers in the last `check(name, ...)`; empty without such a call."""
        numbers: dict[str, int | str] = {}
        checks = [statement for statement, names in self.names.items() if name in names]
        for call in (node for statement in checks for node in ast.walk(statement)):
            if isinstance(call, ast.Call) and name in self._beside(call):
                constants = [(word.arg, word.value) for word in call.keywords if word.arg]
                numbers = {key: node.value for key, node in constants if isinstance(node, ast.Constant)}
        return numbers

    def _beside(self, node: ast.AST) -> set[str]:
        """All names beside one for check, answers among them; empty without one, and for practice."""
        keywords = [(call, keyword) for call in ast.walk(node) for keyword in getattr(call, "keywords", ())]
        practice = {part for call, word in keywords if word.arg == "practice" for part in ast.walk(call)}
        parts = [part for part in ast.walk(node) if part not in practice]
        names = {getattr(part, "id", None) or getattr(part, "attr", None) for part in parts}
        names |= {part.name for part in parts if isinstance(part, ast.alias)}
        known = names & self.known.keys()
        return names.union(*(self.known[name] for name in known)) if known else set()


def _names_for_check(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.ImportFrom):
        return [alias.asname or alias.name for alias in statement.names if alias.name == CHECK]
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    is_alias = isinstance(statement, ast.Assign) and isinstance(statement.value, ALIASES)
    return [target.id for target in statement.targets if isinstance(target, ast.Name)] if is_alias else []
