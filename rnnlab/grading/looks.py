"""Lines of an answer that look where no exercise sends anybody: a note for the teacher, never a verdict.

What an answer finds there is its own process; neither wanted values nor counts are in it. Whoever looks has
most likely tried to pass without solving, or is a curious student; a person can tell which.
"""

import ast
from collections.abc import Iterator

from rnnlab.grading.worker import Answer

ATTRIBUTES = {
    "__closure__", "__globals__", "__code__", "__dict__", "__subclasses__", "__builtins__", "cell_contents",
    "_getframe", "f_back", "f_locals", "f_globals", "tb_frame", "tape", "services", "handle", "get_objects",
    "get_referrers", "get_referents", "currentframe", "getsource",
}  # fmt: skip
MODULES = {"gc", "inspect", "ctypes", "sys", "builtins", "types", "importlib", "traceback", "dis"}
CALLS = {"globals", "locals", "vars", "eval", "exec", "compile", "__import__"}


def lines_that_look(answer: Answer) -> tuple[str, ...]:
    """ "cell 3, line 2: f = step.__globals__" for each such line of the statements that were judged."""
    lines = {}
    for label, source, chosen in answer.cells:
        text = source.splitlines()
        statements = ast.parse(source).body
        for node in (node for index in chosen for node in _looks(statements[index])):
            lines[label, node.lineno] = f"{label}, line {node.lineno}: {text[node.lineno - 1].strip()[:120]}"
    return tuple(lines.values())


def _looks(statement: ast.stmt) -> Iterator[ast.AST]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES:
            yield node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            yield node
        if isinstance(node, ast.Import) and {a.name.partition(".")[0] for a in node.names} & MODULES:
            yield node
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES:
            yield node
