"""What IPython keeps of the cells that ran, where a notebook reads it: results as `_`, `__`, `___`, `_3` and
`Out[3]`, sources as `In[3]`.

A cell's number there is the count that it was saved with, or its place in a notebook that has not run.
"""

import ast
import re
from collections.abc import Iterable

from nbjudge.finding.effects import Binding, Scope
from nbjudge.finding.reading import CodeCell

RESULTS = {"_", "__", "___", "_oh", "Out"}
SOURCES = {"In", "_ih"}
KEPT = re.compile(rf"(?<!\w)(?:{'|'.join(RESULTS | SOURCES)}|_\d+)(?!\w)")


def counts(cells: Iterable[CodeCell]) -> dict[int, int]:
    """{number of a cell: its count}."""
    programs = [cell for cell in cells if cell.kind == "code" and cell.text.strip()]
    saved = {cell.number: cell.count for cell in programs if cell.count is not None}
    return saved or {cell.number: place for place, cell in enumerate(programs, 1)}


def follow_result(scope: Scope, value: ast.expr, count: int | None) -> None:
    """Let an expression whose value is displayed give it to the names that IPython has for it."""
    scope.sites += [Binding(name, "part", value) for name in (*RESULTS, f"_{count}")]


def follow_sources(scope: Scope, texts: Iterable[str]) -> None:
    """Let a statement that reads a source, as `exec(In[3])` does, name all that stands in one."""
    scope.texts += texts
    scope.calls = {call._replace(passed=call.passed - SOURCES) for call in scope.calls}
