"""What is known of a kernel's text, found once for each node of it."""

import ast
import functools
from types import FunctionType

from pocketgpu.simulator.arithmetic import as_register
from pocketgpu.simulator.operators import number_of
from pocketgpu.simulator.rewriting import bound_in
from pocketgpu.simulator.source import definition_of

MOST_NODES = 1 << 12  # of texts, of which something is known


@functools.lru_cache(MOST_NODES)
def stored_in(node: ast.AST) -> list[str]:
    """Names that a statement may set."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    return [*dict.fromkeys(part.id for part in names if isinstance(part.ctx, ast.Store))]


@functools.lru_cache(MOST_NODES)
def defined(function: FunctionType) -> tuple[ast.FunctionDef, set[str]]:
    """A function's text, and the names that it binds."""
    tree = definition_of(function)
    return tree, bound_in(tree)


@functools.lru_cache(MOST_NODES)
def folded(node: ast.BinOp) -> object:
    """The number that Python's compiler makes of numbers alone; None for all else."""
    number = number_of(node)
    return None if number is None else as_register(number)


@functools.lru_cache(MOST_NODES)
def joined(node: ast.Compare) -> ast.BoolOp:
    """a < b and b < c of a < b < c: the same nodes each time, because what is known of them is kept."""
    pairs = zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
    parts = [ast.Compare(left, [operator], [right]) for left, operator, right in pairs]
    return ast.BoolOp(ast.And(), parts)
