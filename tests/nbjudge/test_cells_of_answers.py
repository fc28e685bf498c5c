"""A notebook is asked by one class: its cells, the names they give, and the cell that holds an answer."""

import json
from itertools import permutations
from pathlib import Path

import pytest

from nbjudge.authoring.course import ROOT
from nbjudge.finding.notebook import Notebook
from nbjudge.finding.reading import cells, parse

STUB = "def f(x):\n    raise NotImplementedError"
DOORS = {"notebook", "notebook_file"}  # modules of nbjudge/finding that the rest of the course imports


def notebook_of(*sources):
    return Notebook(parse(number, source) for number, source in enumerate(sources, 1))


@pytest.mark.parametrize(
    ("sources", "number"),
    [
        (("x = 1", "def f(x):\n    return x", STUB), 2),
        (("def f(x):\n    return x", "from course import use\nf = use(f)"), 1),
        (("f = lambda x: x", "def f(x):\n    return 2 * x"), 2),
        (("def make():\n    global f\n    f = abs", "make()", "print(f(1))"), 2),
        (("if True:\n    def f(x):\n        return x", "del f", "g = f"), 1),
    ],
)
def test_the_cell_of_an_answer_is_the_last_that_gives_its_name_a_meaning(sources, number):
    assert notebook_of(*sources).cell_of("f").number == number


def test_names_are_those_of_all_cells_whether_they_run_or_not():
    sources = [("code", "a = 1"), ("markdown", "def b(x):"), ("code", "def c(x:\nd = 1"), ("raw", "def e(")]
    listed = [{"cell_type": kind, "source": source} for kind, source in sources]
    assert Notebook(cells(json.dumps({"cells": listed}), Path("a.ipynb"))).names == {*"abcde"}


def test_another_text_in_one_cell_leaves_the_other_cells_and_the_first_notebook_as_they_are():
    first = notebook_of("x = 1", "def f(y):\n    return y + x", "z = 3")
    second = first.with_text(first.cell_of("f"), "def f(y):\n    return y - x")
    assert [cell.text for cell in second.cells if cell not in first.cells] == ["def f(y):\n    return y - x"]
    assert [label for label, *_ in second.answer("f").cells] == ["cell 1", "cell 2"]
    assert "y + x" in first.answer("f").cells[1][1]


def test_what_an_answer_needs_does_not_depend_on_what_its_names_are_called():
    """Names wait in a set, whose order is that of their hashes, drawn anew in each process."""
    needed = set()
    for table, late in permutations("abcdegh", 2):
        answer = f"def f(y):\n    return y[{table}[0]] + {late}[0]"
        sources = (
            f"{table} = [1]",
            answer,
            "check(f)",
            f"{late} = {table}",
            f"{late}[0] = 2",
            f"{table}[0] = 3",
        )
        needed.add(tuple(label for label, *_ in notebook_of(*sources).answer("f").cells))
    assert needed == {("cell 1", "cell 2", "cell 4", "cell 5")}


def test_the_rest_of_the_course_asks_a_notebook_and_none_of_the_modules_behind_it():
    programs = [path for name in ("nbjudge", "rnncourse") for path in (ROOT / name).rglob("*.py")]
    outside = [path.read_text(encoding="utf-8") for path in programs if path.parent.name != "finding"]
    behind = {path.stem for path in (ROOT / "nbjudge/finding").glob("*.py")} - DOORS - {"__init__"}
    assert len(behind) >= 5
    assert not [name for name in behind for text in outside if f"nbjudge.finding.{name}" in text]
