"""Local names of a function that a thread may read before it has parameters them a value.

On a GPU such a name has a register, with zero or anything in it.  rewriting.py starts these names with a
value that is a finding where it is used (arithmetic.Unset).
"""

import ast

from pocketgpu.simulator.names import SCOPES, names_used

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
                branches = [self.run(statement.body, {*known}), self.run(statement.orelse, {*known})]
                ended = [names for names in branches if names is not None]
                return set.intersection(*ended) if ended else None
            case ast.While() | ast.For():
                return self._loop(statement, known)
            case ast.FunctionDef():
                self.bound.add(statement.name)
                return known | {statement.name}
        parts = [getattr(statement, field, None) for field in ("body", "handlers", "cases")]
        has_blocks = any(isinstance(part, list) for part in parts)
        if has_blocks:
            return known | self._bind(statement)  # with, try, match: no kernel's, so what is bound there is
        if isinstance(statement, ast.AugAssign):
            target = statement.target
            if isinstance(target, ast.Name) and target.id not in known:
                self.read.add(target.id)
        self._look(statement, known)
        known = known | self._bind(statement)
        return None if isinstance(statement, ENDS) else known

    def _loop(self, loop: ast.While | ast.For, known: Names) -> Names:
        inside = {*known}
        if isinstance(loop, ast.For):
            self._look(loop.iter, known)
            inside |= self._bind(loop.target)
        else:
            self._look(loop.test, known)
        self.run(loop.body, inside)
        return self.run(loop.orelse, {*known}) or known

    def _look(self, node: ast.AST, known: Names) -> None:
        """Note the names that are read, also by functions within, which run later."""
        if isinstance(node, SCOPES):
            return
        is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        if is_read and node.id not in known:
            self.read.add(node.id)
        bound = {*known}
        for generator in getattr(node, "generators", ()):
            bound |= names_used(generator.target)
        if isinstance(node, ast.expr):
            # what stands before := in an expression is taken for bound, too
            bound |= {part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)}
        for part in ast.iter_child_nodes(node):
            self._look(part, bound)

    def _bind(self, node: ast.AST) -> Names:
        """Note the names that are bound anywhere in the node."""
        parts = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        names = {name.id for name in parts if not isinstance(name.ctx, ast.Load)}
        self.bound |= names
        return names
