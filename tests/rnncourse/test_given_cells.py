"""A given cell never changes what an answer means: the names that it binds are nobody else's.

An answer is graded with the last value of each name, as after "Restart and run all". A given cell that binds
`product` would replace the `product` that a learner imports from itertools.
"""

import ast
import builtins
import functools
import itertools
import json
import math
import operator
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from answer_cells import answer_cells

from nbjudge.authoring.course import ROOT
from nbjudge.finding.notebook import Notebook
from nbjudge.finding.reading import parse
from nbjudge.grading.grade import grade_one
from nbjudge.running.sandbox import choose
from rnncourse import checks
from rnncourse.checks.answers import answers

LIBRARIES = builtins, functools, itertools, math, operator, np
PUBLIC = {name for library in LIBRARIES for name in dir(library) if not name.startswith("_")}
THROWAWAY = "_"
NESTED = ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.FunctionDef, ast.ClassDef


def names_bound(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """(name, is it the variable of a loop) for all that a node binds in its cell; imports are left out."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name, False
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id, False
    elif isinstance(node, ast.For):
        yield from ((name, True) for name, _ in names_bound(node.target))
        yield from (name for statement in [*node.body, *node.orelse] for name in names_bound(statement))
    elif not isinstance(node, NESTED):
        yield from (name for child in ast.iter_child_nodes(node) for name in names_bound(child))


def cells_of(lesson: str) -> list[str]:
    """The code cells of a lesson's solved exercises."""
    path = ROOT / "solutions" / f"{checks.LESSONS[lesson]}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def top_level(source: str) -> set[str]:
    """Names that a program binds or imports at its top level."""
    tree = ast.parse(source)
    imports = [a for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) for a in node.names]
    return {name for name, _ in names_bound(tree)} | {a.asname or a.name.partition(".")[0] for a in imports}


def answers_to(lesson: str) -> list[str]:
    """All programs that answer an exercise of the lesson: the course's own, and those of tests/answers."""
    cells = (cell.text for cells in answer_cells(lesson).values() for cell in cells)
    known = (program for answer in answers(lesson).values() for program in (answer.source, *answer.right))
    return [*cells, *known]


@pytest.mark.parametrize("lesson", checks.LESSONS)
def test_no_given_cell_binds_a_name_of_an_answer_of_a_library_or_of_another_given_cell(lesson):
    preludes = {name for answer in answers(lesson).values() for name in top_level(answer.prelude)}
    own = {name for source in answers_to(lesson) for name in top_level(source)} - preludes
    bound: dict[str, list[bool]] = defaultdict(list)
    for source in cells_of(lesson):
        names = [*names_bound(ast.parse(source))]
        if not {name for name, _ in names} & {*answers(lesson)}:
            for name in {name for name, _ in names} - {THROWAWAY}:
                bound[name].append(all(is_loop for other, is_loop in names if other == name))
    assert {*bound} & (PUBLIC | own) == set()
    assert [name for name, loops in bound.items() if len(loops) > 1 and not all(loops)] == []


IMPORTED = """from itertools import product

def tiled_product(multiply, B, K, panels, near):
    terms = max(1, near // 2 // multiply.columns)
    places = product(range(panels), range(0, K, terms), range(0, B, multiply.rows))
    for panel, term, row in places:
        multiply(row, min(multiply.rows, B - row), panel, term, min(terms, K - term))
"""


def test_an_answer_that_imports_a_name_keeps_it_whatever_the_given_cells_below_bind():
    cells = cells_of("packed_products")
    place = next(n for n, source in enumerate(cells) if "def tiled_product(" in source)
    sources = [*cells[:place], IMPORTED, *cells[place + 1 :]]
    notebook = Notebook(parse(number, source) for number, source in enumerate(sources, 1))
    verdict = grade_one(checks.find("tiled_product")[1], notebook, 1, choose(plain=True))
    assert verdict.passed, str(verdict)


HELPED = """def rate(flop, durations):
    return flop / np.median(durations)

def measure_gemm(multiply, clock, m, n, k, repeats):
    multiply()
    readings = [(clock(), multiply(), clock()) for _ in range(repeats)]
    return rate(2.0 * m * n * k, [end - begin for begin, _, end in readings])
"""


def test_a_helper_keeps_its_meaning_whatever_a_cell_that_shows_the_answer_calls_its_result():
    cells = cells_of("start_here")
    place = next(n for n, source in enumerate(cells) if "def measure_gemm(" in source)
    assert any("rate = use(measure_gemm)" in source for source in cells[place:])
    sources = [*cells[:place], HELPED, *cells[place + 1 :]]
    notebook = Notebook(parse(number, source) for number, source in enumerate(sources, 1))
    verdict = grade_one(checks.find("measure_gemm")[1], notebook, 1, choose(plain=True))
    assert verdict.passed, str(verdict)
