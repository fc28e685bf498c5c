"""Below an error in its cell, a statement counts as little as it did in the notebook."""

import json

import pytest
import style_verdicts

from nbjudge.finding.notebook import Notebook
from nbjudge.finding.notebook_file import SMALL
from rnncourse import checks

ANSWER = "def last_step(y):\n    return y[AT].copy()"
CHECK = "check(last_step)"
TRACES = {  # of the second line of a cell, by the versions of IPython that wrote them
    "7": [
        "<ipython-input-2-5f9d> in <module>\n      1 AT = -1\n----> 2 {line}\n      3 AT = 0\n",
        "{name}: x",
    ],
    "8": [
        "Input In [2], in <cell line: 2>()\n      1 AT = -1\n----> 2 {line}\n      3 AT = 0\n",
        "{name}: x",
    ],
    "9": [
        "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[2]\x1b[39m\x1b[32m, line 2\x1b[39m\n"
        "\x1b[32m      1\x1b[39m AT = -\x1b[32m1\x1b[39m\n\x1b[32m----> \x1b[39m\x1b[32m2\x1b[39m {line}\n",
        "\x1b[31m{name}\x1b[39m: x",
    ],
}


def cell(source, count=None, name=None, line="1 / 0", version="9"):
    """A code cell, which stopped at its second line where a name of an exception is given."""
    trace = ["-" * 75, *(part.format(line=line, name=name) for part in TRACES[version])]
    outputs = [{"output_type": "error", "ename": name, "evalue": "x", "traceback": trace}] if name else []
    return {"cell_type": "code", "execution_count": count, "source": source, "outputs": outputs}


def status(*cells):
    exercise = checks.find("last_step")[1]
    start = cell("import numpy as np\nfrom rnnlab import check", 1)
    return style_verdicts.graded(exercise, [start, *cells]).status


@pytest.mark.parametrize("version", TRACES)
def test_a_name_keeps_the_meaning_that_it_had_above_an_error(version):
    stopped = cell("AT = -1\n1 / 0\nAT = 0", 2, "ZeroDivisionError", version=version)
    assert status(stopped, cell(ANSWER, 3), cell(CHECK, 4)) == "passed"
    assert status(stopped | {"outputs": []}, cell(ANSWER, 3), cell(CHECK, 4)) == "failed"


@pytest.mark.parametrize(
    ("counts", "expected"), [((2, 3, 4), "crashed"), ((2, 3, 5), "passed"), ((None,) * 3, "passed")]
)
def test_a_first_meaning_below_an_error_counts_where_the_cell_may_have_run_before(counts, expected):
    first, second, third = counts
    stopped = cell("import math\n1 / 0\nAT = -1", first, "ZeroDivisionError")
    assert status(stopped, cell(ANSWER, second), cell(CHECK, third)) == expected


@pytest.mark.parametrize(
    ("source", "shown", "inside"),
    [
        (
            "%%time\nAT = -1\n1 / 0\nAT = 0",
            "1 get_ipython().run_cell_magic('time', '', '…')",
            "<timed exec>:2",
        ),
        ("%%prun -q\n\nAT = -1\n1 / 0\nAT = 0", "1 get_ipython().run_cell_magic('prun', '…')", "<string>:2"),
        ("AT = -1\n%time 1 / 0\nAT = 0", "2 get_ipython().run_line_magic('time', '1 / 0')", "<timed eval>:1"),
        ("%%capture\nAT = -1\n1 / 0\nAT = 0", "2 1 / 0", "x.py:9"),
        ("\n\nAT = -1\n1 / 0\nAT = 0", "2 1 / 0", "x.py:9"),
    ],
)
def test_an_error_stops_what_a_magic_runs(source, shown, inside):
    """Tracebacks of ipykernel 7 with IPython 9.18; none of them has the line of `%%time` itself."""
    trace = [f"Cell In[2], line 1\n----> {shown}\n", f"File {inside}\n      1 'Could not get source'\n"]
    outputs = [{"output_type": "error", "ename": "ZeroDivisionError", "traceback": trace}]
    stopped = cell(source, 2) | {"outputs": outputs}
    assert status(stopped, cell(ANSWER, 3), cell(CHECK, 4)) == "passed"


def test_a_meaning_below_the_check_counts_unless_all_cells_ran_in_order():
    cells = cell(ANSWER, 2), cell(CHECK, 3), cell("AT = -1", 4)
    assert status(*cells) == "crashed"
    assert status(*(part | {"execution_count": None} for part in cells)) == "passed"
    assert status(cells[0], cell(CHECK, 5), cells[2]) == "passed"


def test_a_cell_that_was_changed_since_its_error_runs_whole():
    changed = cell("AT = 0\nK = 1 / 1\nAT = -1", 2, "ZeroDivisionError")
    assert status(changed, cell(ANSWER, 3), cell(CHECK, 4)) == "passed"


def test_an_answer_below_an_error_is_judged():
    answer = cell(f"import math\n1 / 0\n{ANSWER.replace('AT', '-1')}", 2, "ZeroDivisionError")
    assert status(answer) == "passed"
    assert status(cell("def last_step(y):\n    return y[0]", 3), answer | {"execution_count": 4}) == "failed"


def test_a_name_that_was_missing_gives_none():
    """A statement that misses a name waits for it, but not where the notebook says that it failed."""
    missing = cell("AT = -1\nAT = later\n", 2, "NameError", line="AT = later")
    cells = missing, cell("later = 0", 3), cell(ANSWER, 4), cell(CHECK, 5)
    assert status(*cells) == "passed"
    assert status(*(part | {"execution_count": None, "outputs": []} for part in cells)) == "failed"


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        ("raise ValueError", "passed"),
        ("AT = [][1]", "passed"),
        ("AT = int('x')", "passed"),
        ("AT = __import__('sys').exit()", "passed"),
        ("AT = open('/missing').read()", "failed"),  # what a grader lacks, a notebook may have had
        ("import missing_package as AT", "failed"),
    ],
)
def test_without_outputs_an_error_of_the_answers_own_stops_its_cell(failing, expected):
    assert status(cell(f"AT = -1\n{failing}\nAT = 0"), cell(ANSWER), cell(CHECK)) == expected
    assert status(cell(f"K = 1\n{failing}\nAT = -1"), cell(ANSWER), cell(CHECK)) == "passed"


def test_the_errors_of_a_large_notebook_are_read_too(tmp_path):
    stopped = cell("AT = -1\n1 / 0\nAT = 0", 1, "ZeroDivisionError")
    picture = cell("draw()", 2) | {"outputs": [{"output_type": "display_data", "data": "x" * SMALL}]}
    path = tmp_path / "00_start_here.ipynb"
    path.write_text(json.dumps({"cells": [stopped, picture, {"cell_type": "code", "source": None}]}))
    cells = Notebook.read(path).cells
    assert [part.ran_to for part in cells] == [2, None, None]
    assert [part.in_turn for part in cells] == [True, True, False]


@pytest.mark.parametrize(
    "outputs",
    [None, 3, "error", [None, 3, {}], [{"output_type": "error"}], [{"output_type": "error", "traceback": 3}]],
)
def test_damaged_outputs_are_no_matter(outputs):
    assert status(cell("AT = -1") | {"outputs": outputs}, cell(ANSWER), cell(CHECK)) == "passed"
