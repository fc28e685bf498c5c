"""Where a notebook calls `check` on an answer, under whatever name it calls it.

`from course import check as c`, `course.check`, `test = check`, `partial(check)`, `map(check, answers)` and a
function (not a method) of the notebook's own that calls check are all the same to a learner.
"""

import ast
from collections.abc import Mapping

from nbjudge.exercise import Numbers
from nbjudge.finding.effects import Scope, is_call_of

CHECK = "check"


class Checks:
    """The statements of a notebook that call check, and what stands beside it."""

    def __init__(self, scopes: Mapping[ast.stmt, Scope]):
        self.known: dict[str, set[str]] = {CHECK: set()}  # a name that calls check, and those beside it
        for statement, scope in scopes.items():
            for name, node in _other_names(statement, scope):
                if beside := self._beside(node):
                    self.known[name] = beside
        self.names = {statement: self._beside(statement) for statement in scopes}

    def numbers(self, name: str) -> Numbers:
        """The numbers in the last `check(name, ...)`; empty without such a call."""
        numbers = {}
        checks = [statement for statement, names in self.names.items() if name in names]
        for call in (node for statement in checks for node in ast.walk(statement)):
            if isinstance(call, ast.Call) and name in self._beside(call):
                constants = [(word.arg, word.value) for word in call.keywords if word.arg]
                numbers = {key: node.value for key, node in constants if isinstance(node, ast.Constant)}
        return numbers

    def _beside(self, node: ast.AST) -> set[str]:
        """All names beside one for check, answers among them; empty without one, and for practice."""
        keywords = [(call, keyword) for call in ast.walk(node) for keyword in getattr(call, "keywords", ())]
        calls = [
            call for call, word in keywords if word.arg == "practice" and getattr(word.value, "value", True)
        ]
        practice = {part for call in calls for part in ast.walk(call)}
        parts = [part for part in ast.walk(node) if part not in practice]
        names = {getattr(part, "id", None) or getattr(part, "attr", None) for part in parts}
        names |= {part.name for part in parts if isinstance(part, ast.alias)}
        known = names & self.known.keys()
        return names.union(*(self.known[name] for name in known)) if known else set()


def _other_names(statement: ast.stmt, scope: Scope) -> list[tuple[str, ast.AST]]:
    """(name, what it stands for) wherever a statement may give check, or what calls it, another name."""
    aliases = [part for part in ast.walk(statement) if isinstance(part, ast.alias) and part.name == CHECK]
    imported = [(alias.asname or CHECK, alias) for alias in aliases]
    kinds = ast.Name | ast.Attribute
    others = [s for s in scope.sites if isinstance(s.source, kinds) or is_call_of("partial", s.source)]
    named = [(site.name, site.source) for site in others]
    functions = [(name, node) for name, node in scope.functions if name.isidentifier()]
    return [*imported, *named, *functions]
