"""Simulated ranks without threads, for browsers: a rank is a coroutine that is made of its program's text.

Each call in a text may wait: `comm.recv(0)` becomes `await .call(comm.recv, 0)`.  What it calls is rewritten,
too, but for functions of NumPy and the standard library, generators, and functions without a text.
"""

import ast
import builtins
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import cache
from types import CellType, CodeType, FunctionType, MethodType, coroutine
from typing import Any

from ranks.errors import RankEnded, RankError
from ranks.source import FLAGS, bare_definition, codes_in, tree_of

LIBRARIES = {"numpy", *sys.stdlib_module_names}
GENERATORS = 0x20 | 0x80 | 0x200  # flags of codes that are generators or coroutines in their text
stop = coroutine(lambda: (yield))  # suspends all that await it


class Coroutine:
    """Turns without a thread: a function that runs from `resume` to its next `pause`."""

    def __init__(self, function: Callable, *arguments: Any):
        self.context = copy_context()
        self.steps = call(function, *arguments)

    def resume(self) -> None:
        """Let it run until it pauses or ends.  Raises what it raises."""
        with suppress(StopIteration):
            self.context.run(self.steps.send, None)

    def pause(self) -> None:
        """Let the caller of `resume` continue; from within the function, where `call` can see it."""
        raise RankError("a rank waits in a generator, in a library, or in code without a text: write a loop")

    def end(self) -> None:
        """End the function where it pauses."""
        with suppress(RankEnded, RuntimeError):  # RuntimeError: it has ended already
            self.context.run(self.steps.throw, RankEnded)


async def call(function: Callable, /, *arguments: Any, **options: Any) -> Any:
    """Result of function(*arguments, **options), which may pause."""
    if isinstance(function, MethodType):
        arguments = (function.__self__, *arguments)
        function = function.__func__
    if function is Coroutine.pause:
        return await stop()
    is_own = isinstance(function, FunctionType) and str(function.__module__).split(".")[0] not in LIBRARIES
    if not is_own or (code := rewritten(function.__code__)) is None:
        return function(*arguments, **options)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple((cells | {".call": CellType(call)})[name] for name in code.co_freevars)
    own = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    own.__kwdefaults__ = function.__kwdefaults__
    return await own(*arguments, **options)


@cache
def rewritten(code: CodeType) -> CodeType | None:
    """The code as a coroutine's, in which .call is free; None for one that runs as it is."""
    if code.co_flags & GENERATORS or (tree := tree_of(code)) is None:
        return None
    old = bare_definition(tree)
    body = [*map(Waiting().visit, old.body)]
    new = ast.AsyncFunctionDef(f".{old.name}", old.args, body, [], None, type_params=[])
    free = ast.arguments([], [ast.arg(n) for n in (".call", *code.co_freevars)], None, [], [], None, [])
    outer = ast.FunctionDef(".outer", free, [new], [], None, type_params=[])
    module = ast.fix_missing_locations(ast.Module([outer], []))
    compiled = compile(module, code.co_filename, "exec", code.co_flags & FLAGS, dont_inherit=True)
    return codes_in(compiled)[2].replace(co_name=code.co_name)  # the module's and .outer's stand before it


class Waiting(ast.NodeTransformer):
    """Lets each call wait; functions within are rewritten when they are called."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id):
            return node
        waiting = ast.Call(ast.Name(".call", ast.Load()), [node.func, *node.args], node.keywords)
        return ast.copy_location(ast.Await(ast.copy_location(waiting, node)), node)

    visit_FunctionDef = visit_Lambda = visit_ClassDef = visit_GeneratorExp = lambda self, node: node
