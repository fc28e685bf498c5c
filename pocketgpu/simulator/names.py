"""Names of a function: what its statements bind them to, and which of them may stand for a slice."""

import ast
from collections.abc import Callable, Iterator
from types import FunctionType

SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
OWN = "pocketgpu."  # begins the modules whose functions return no slices


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def arguments_in(definition: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Names of the parameters."""
    return {part.arg for part in ast.walk(definition.args) if isinstance(part, ast.arg)}


def names_used(node: ast.AST) -> set[str]:
    """Names that stand anywhere in the node."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def parameters(function: FunctionType) -> tuple[str, ...]:
    """Names of a function's parameters, in their order."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


def called(name: str, *arguments: ast.expr) -> ast.Call:
    """A call of the function of that name."""
    return ast.Call(load(name), [*arguments], [])


class Transformer(ast.NodeTransformer):
    """Gives a new node the place of the one that it stands for; nodes within it have none yet."""

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        result = super().visit(node)
        replacements = result if isinstance(result, list) else [result]
        for new in replacements:
            if not hasattr(new, "lineno"):
                ast.copy_location(new, node)
        return result


def bindings(definition: ast.FunctionDef) -> Iterator[tuple[str, ast.expr, int | None]]:
    """(name, value, place in the value's tuple) for all that a function binds."""
    for node in ast.walk(definition):
        match node:
            case ast.Assign():
                for target in node.targets:
                    yield from _bound_to(target, node.value)
            case ast.AnnAssign(value=ast.expr()) | ast.NamedExpr():
                yield from _bound_to(node.target, node.value)
            case ast.AugAssign(target=ast.Name()):
                now = load(node.target.id)
                yield node.target.id, ast.BinOp(now, node.op, node.value), None
            case ast.For() | ast.comprehension():
                members = node.iter if isinstance(node.iter, ast.Call) else ast.Starred(node.iter)
                yield from _bound_to(node.target, members)


def _bound_to(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr, int | None]]:
    if isinstance(target, ast.Name):
        yield target.id, value, None
    elif isinstance(target, ast.Tuple | ast.List):
        for place, part in enumerate(target.elts):
            if isinstance(part, ast.Name):
                yield part.id, value, place


class Slices:
    """Names of a function that may be bound to a slice, so that an index by them has a part of an array.

    value: what an expression stands for that no launch can change; None for any other.
    """

    def __init__(self, tree: ast.AST, value: Callable[[ast.expr], object]):
        self.value = value
        self.names: set[str] = set()
        pairs = [*bindings(tree)]
        before = None
        while self.names != before:
            before = {*self.names}
            for name, bound, place in pairs:
                parts = bound.elts if isinstance(bound, ast.Tuple) else []
                if place is not None and place < len(parts):
                    bound = parts[place]
                if self.may_be(bound):
                    self.names.add(name)

    def may_be(self, node: ast.expr, unsure: set[str] = frozenset()) -> bool:
        """May the expression be a slice, or a tuple with one?  unsure: further names that may."""
        match node:
            case ast.Name() if node.id in self.names or node.id in unsure:
                return True
            case ast.Name():
                return _has_slice(self.value(node))
            case ast.Attribute():  # of a module, or of a named tuple
                return _has_slice(self.value(node)) or self.may_be(node.value)
            case ast.Subscript() | ast.Starred():
                return self.may_be(node.value)
            case ast.Tuple():
                return any(self.may_be(part, unsure) for part in node.elts)
            case ast.IfExp():
                return self.may_be(node.body, unsure) or self.may_be(node.orelse, unsure)
            case ast.Call():
                return _may_return_slice(self.value(node.func))
        return False


def _may_return_slice(function: object) -> bool:
    if not isinstance(function, FunctionType):
        return function is slice
    module = function.__module__ or ""
    return not module.startswith(OWN)


def _has_slice(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(_has_slice, value))
    return isinstance(value, slice)
