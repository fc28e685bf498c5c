"""How many loops of a kernel wait for other blocks, by its text, and with which word they look."""

import ast
import inspect
import textwrap
from types import FunctionType
from typing import NamedTuple

STRONG = ("atomic", "load_acquire", "load_relaxed")
WEAK = ("ldca", "ldcg", "ldcs", "ldcv", "ldlu")


class Poll(NamedTuple):
    """One loop that waits: its line in the function's text, and "strong", "weak" or "plain"."""

    line: int
    kind: str


def polls_of(tree: ast.AST) -> list[Poll]:
    """Every while of the text whose end depends on memory."""
    loops = (node for node in ast.walk(tree) if isinstance(node, ast.While))
    return [Poll(loop.lineno, kind) for loop in loops if (kind := _kind(loop))]


def _kind(loop: ast.While) -> str:
    """What the loop looks with; empty if its end does not depend on memory."""
    words = {word for test in _tests(loop) for word in _words(test)}
    if words & {*STRONG}:
        return "strong"
    return "weak" if words & {*WEAK} else "plain" if "[]" in words else ""


def _tests(loop: ast.While) -> list[ast.AST]:
    """The condition, those of an if around a break, and what is assigned to the names in them."""
    breaks = lambda node: any(isinstance(inner, ast.Break | ast.Return) for inner in ast.walk(node))
    tests = [loop.test, *(n.test for n in ast.walk(loop) if isinstance(n, ast.If) and breaks(n))]
    names = {node.id for test in tests for node in ast.walk(test) if isinstance(node, ast.Name)}
    assigned = (node for node in ast.walk(loop) if isinstance(node, ast.Assign))
    bases = lambda node: (getattr(target, "value", target) for target in node.targets)  # `seen` of seen[0]
    return tests + [
        node.value
        for node in assigned
        if names & {inner.id for base in bases(node) for inner in ast.walk(base) if hasattr(inner, "id")}
    ]


def _words(node: ast.AST) -> set[str]:
    """Names and attributes that are called, and [] for an element that is read."""
    words = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            words |= {*ast.unparse(inner.func).split(".")}
        elif isinstance(inner, ast.Subscript) and not ast.unparse(inner).endswith((".shape[0]", ".shape[1]")):
            words.add("[]")
    return words


def waits_of(kernel: object) -> int:
    """Loops that wait by an atomic or a word for loads, with device functions in place of their calls."""
    function = getattr(kernel, "py_func", kernel)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    called = (names.get(name.id) for name in calls if isinstance(name, ast.Name))
    device = (getattr(value, "py_func", None) for value in called)
    own = sum(poll.kind != "plain" for poll in polls_of(tree))
    return own + sum(
        waits_of(value)
        for value in device
        if isinstance(value, FunctionType) and value.__name__ != "<lambda>"
    )
