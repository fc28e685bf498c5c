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
        for statement in checks:
            calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
            for call in calls:
                if name in self._beside(call):
                    numbers = _constant_arguments(call)
        return numbers

    def _beside(self, node: ast.AST) -> set[str]:
        """All names beside one for check, answers among them; empty without one, and for practice."""
        practice = set()
        for call in ast.walk(node):
            if any(map(_is_practice, getattr(call, "keywords", ()))):
                practice.update(ast.walk(call))
        names = set()
        for part in ast.walk(node):
            if part in practice:
                continue
            names.add(getattr(part, "id", None) or getattr(part, "attr", None))
            if isinstance(part, ast.alias):
                names.add(part.name)
        known = names & self.known.keys()
        if not known:
            return set()
        return names.union(*(self.known[name] for name in known))


def _constant_arguments(call: ast.Call) -> Numbers:
    """The constants that go with a call, by their keywords."""
    constants = {}
    for keyword in call.keywords:
        if keyword.arg and isinstance(keyword.value, ast.Constant):
            constants[keyword.arg] = keyword.value.value
    return constants


def _is_practice(keyword: ast.keyword) -> bool:
    """Is it `practice=True`, or another value than a constant that is false?"""
    return keyword.arg == "practice" and getattr(keyword.value, "value", True)


def _other_names(statement: ast.stmt, scope: Scope) -> list[tuple[str, ast.AST]]:
    """(name, what it stands for) wherever a statement may give check, or what calls it, another name."""
    others = []
    for part in ast.walk(statement):
        if isinstance(part, ast.alias) and part.name == CHECK:
            others.append((part.asname or CHECK, part))
    for site in scope.sites:
        is_name = isinstance(site.source, ast.Name | ast.Attribute)
        if is_name or is_call_of("partial", site.source):
            others.append((site.name, site.source))
    for name, function in scope.functions:
        if name.isidentifier():
            others.append((name, function))
    return others
