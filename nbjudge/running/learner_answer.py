"""A learner's code for one exercise: what a grade finds in a notebook, holds up to rules, and runs."""

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from nbjudge.running.inside import wire

# what a line has that looks into the process it runs in: see LearnerAnswer.lines_that_look
ATTRIBUTES = {
    "__closure__", "__globals__", "__code__", "__dict__", "__subclasses__", "__builtins__", "cell_contents",
    "_getframe", "f_back", "f_locals", "f_globals", "tb_frame", "tape", "services", "handle", "get_objects",
    "get_referrers", "get_referents", "currentframe", "getsource",
}  # fmt: skip
MODULES = {"gc", "inspect", "ctypes", "sys", "builtins", "types", "importlib", "traceback", "dis"}
CALLS = {"globals", "locals", "vars", "eval", "exec", "compile", "__import__"}
LOOKING = ATTRIBUTES | MODULES | CALLS


class LearnerAnswer(NamedTuple):
    """The learner's code for one exercise."""

    name: str
    cells: list[tuple[str, str, list[int]]]  # label, source, which of its statements are needed
    names: list[str]  # what they are needed for: of an import, the rest is left out
    optional: Sequence[tuple[str, int]] = ()  # (label, line): may have nothing to do with it
    history: Mapping[str, list] = MappingProxyType({})  # what IPython keeps of cells: see inside/notebook.py
    magics: Sequence[str] = ()  # lines of IPython that did not run and may give names
    repeated: Sequence[str] = ()  # names that several cells give a meaning, with their cells
    unread: Sequence[str] = ()  # errors of cells that cannot be parsed and would give needed names
    newer: str = ""  # the version of Python that wrote the notebook, where it is above this one

    def packed(self) -> bytes:
        """The frame that hands it over, as bytes of text: it may hold a table of megabytes."""
        text = json.dumps([*self[:4], {**self.history}], ensure_ascii=False).encode(errors="surrogatepass")
        return wire.pack(np.frombuffer(text, np.uint8))

    def statements(self) -> Iterator[tuple[str, str, int, ast.stmt]]:
        """(label, source, index, statement) of each that is needed."""
        for label, source, chosen in self.cells:
            body = ast.parse(source).body
            for index in chosen:
                yield label, source, index, body[index]

    def lines_that_look(self) -> tuple[str, ...]:
        """ "cell 3, line 2: f = step.__globals__" for each line that looks where nothing sends it.

        A note for the teacher, never a verdict: what an answer finds there is its own process.
        """
        lines = {}
        lines_of = cache(lambda text: text.split("\n"))  # a cell may hold a megabyte, and many such lines
        # for speed: most answers name nothing of it
        cells = [c for c in self.cells if not c[1].isascii() or any(word in c[1] for word in LOOKING)]
        for label, source, _, statement in self._replace(cells=cells).statements():
            for node in filter(_looks, ast.walk(statement)):
                line = lines_of(source)[node.lineno - 1].strip()
                lines[label, node.lineno] = f"{label}, line {node.lineno}: {line[:120]}"
        return tuple(lines.values())


def of_source(name: str, source: str) -> LearnerAnswer:
    """An answer whose source is one cell."""
    return LearnerAnswer(name, [("cell 1", source, list(range(len(ast.parse(source).body))))], ["*"])


def _looks(node: ast.AST) -> bool:
    """Does it look into the process that it runs in?"""
    if isinstance(node, ast.Attribute):
        return node.attr in ATTRIBUTES
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", None) in CALLS
    modules = []
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return any(module.partition(".")[0] in MODULES for module in modules)
