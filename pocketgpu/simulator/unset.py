"""Local names of a function that a thread may read before it has parameters them a value.

On a GPU such a name has a register, with zero or anything in it.  rewriting.py starts these names with a
value that is a finding where it is used (arithmetic.Unset).
"""

import ast

from pocketgpu.simulator.names import SCOPES

ENDS = ast.Return | ast.Raise | ast.Break | ast.Continue
Names = set[str]


def names_read_unset(definition: ast.FunctionDef, parameters: Names) -> list[str]:
    """Names, in order of the alphabet; `parameters`: those of the parameters."""
    search = _Search()
    search.run(definition.body, set(parameters))
    return sorted(search.read & (search.bound - parameters))


class _Search:
    """The names that are bound somewhere, and those that are read where they need not be bound yet."""

    def __init__(self):
        self.bound: Names = set()
        self.read: Names = set()

    def run(self, body: list[ast.stmt], known: Names) -> Names | None:
        """The names that are bound behind these statements; None if their end is never reached."""
        for statement in body:
            known = self._statement(statement, known)
            if known is None:
                return None
        return known

    def _statement(self, statement: ast.stmt, known: Names) -> Names | None:
        match statement:
            case ast.If():
                self._look(statement.test, known)
                ways = [self.run(statement.body, {*known}), self.run(statement.orelse, {*known})]
                reached = [way for way in ways if way is not None]
                return set.intersection(*reached) if reached else None
            case ast.While() | ast.For():
                return self._loop(statement, known)
            case ast.FunctionDef():
                self.bound.add(statement.name)
                return known | {statement.name}
        if any(isinstance(getattr(statement, field, None), list) for field in ("body", "handlers", "cases")):
            return known | self._bind(statement)  # with, try, match: no kernel's, so what is bound there is
        if isinstance(statement, ast.AugAssign):
            self._look(ast.Expr(statement.value), known)
            if isinstance(statement.target, ast.Name) and statement.target.id not in known:
                self.read.add(statement.target.id)
        self._look(statement, known)
        known = known | self._bind(statement)
        return None if isinstance(statement, ENDS) else known

    def _loop(self, loop: ast.While | ast.For, known: Names) -> Names:
        self._look(loop.test if isinstance(loop, ast.While) else loop.iter, known)
        inside = {*known}
        if isinstance(loop, ast.For):
            inside |= self._bind(loop.target)
        self.run(loop.body, inside)
        return self.run(loop.orelse, {*known}) or known

    def _look(self, node: ast.AST, known: Names) -> None:
        """Note the names that are read, also by functions within, which run later."""
        if isinstance(node, SCOPES):
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in known:
            self.read.add(node.id)
        own = {name for part in getattr(node, "generators", ()) for name in _stored(part.target)}
        expressions = ast.walk(node) if isinstance(node, ast.expr) else ()
        # what stands before := in an expression is taken for bound, too
        within = {part.target.id for part in expressions if isinstance(part, ast.NamedExpr)}
        for part in ast.iter_child_nodes(node):
            self._look(part, known | own | within)

    def _bind(self, node: ast.AST) -> Names:
        """Note the names that are bound anywhere in the node."""
        parts = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        names = {part.id for part in parts if not isinstance(part.ctx, ast.Load)}
        self.bound |= names
        return names


def _stored(target: ast.expr) -> Names:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
