"""An answer may read what IPython keeps of earlier cells: results, sources, and the environment."""

import json
from pathlib import Path

import pytest
import style_verdicts

from nbjudge.finding import history, reading
from nbjudge.finding.notebook import Notebook
from nbjudge.grading.grade import grade
from nbjudge.running.inside.notebook import History
from nbjudge.verdict import Status
from rnncourse import checks

START = "import numpy as np\nfrom rnnlab import check"
TAKE = "def last_step(y):\n    return y[AT]"
CHECK = "check(last_step)"


def both(*cells):
    """[what a learner saw, what a grade says of the notebook that was saved then]."""
    exercise = checks.find("last_step")[1]
    status, message = style_verdicts.forked(style_verdicts.seen, exercise, [START, *cells])
    _, saved = json.loads(message)
    return [status, style_verdicts.forked(style_verdicts.graded, exercise, saved)[0]]


@pytest.mark.parametrize(
    "cells",
    [
        ("2 - 3", "print('a line')", "AT = _", TAKE, CHECK, "5"),
        ("-1", "'a text'", "7;", "AT = __", TAKE, CHECK),
        ("def last_step(y):\n    return y[_]", "x = 4; -1  # the last", CHECK),
        ("places = np.array([0])\nplaces", "_[0] = -1", "def last_step(y):\n    return y[places[0]]", CHECK),
        ("-1", "AT = Out[2]", TAKE, CHECK, "0"),
        ("(\n    'ü',\n    -1,\n)", "_, AT = _2", TAKE, CHECK),
        ("%%time\n-1", "AT = _", TAKE, CHECK),
        ("%time -1", "AT = %time _", TAKE, CHECK),
        ("AT = 0\nif AT:\n    AT = -1", "exec(In[2].replace('if AT', 'if not AT'))", TAKE, CHECK),
        ("%env PLACE=-1", "import os\nAT = int(os.environ['PLACE'])", TAKE, CHECK),
        (
            "first = -1\n%set_env PLACE {first}",
            "from os import getenv\nAT = int(getenv('PLACE'))",
            TAKE,
            CHECK,
        ),
    ],
)
def test_what_ipython_keeps_is_the_same_in_a_grade(cells):
    pytest.importorskip("IPython")
    assert both(*cells) == ["passed"] * 2


def test_prose_has_no_place_in_out_and_in():
    source = [("markdown", "# Title"), ("code", "1 + 1"), ("raw", "text"), ("code", "x = Out[1]")]
    book = {"cells": [{"cell_type": kind, "source": text, "outputs": []} for kind, text in source]}
    assert history.counts(reading.cells(json.dumps(book), Path("x.ipynb"))) == {2: 1, 4: 2}


def test_an_underscore_of_the_learner_stays():
    namespace = {}
    history = History({"cell 2": [2, [1, 0], "1"], "cell 3": [5, [1, 0], "2"]}, namespace)
    for label, value in (("cell 2", 1), ("cell 3", 2)):
        namespace["_shown "] = value
        history.keep(label)
        namespace["_"] = "own"
    assert (namespace["_"], namespace["__"], namespace["Out"]) == ("own", "", {2: 1, 5: 2})


def test_a_saved_count_names_a_result():
    entries = [
        {"cell_type": "code", "execution_count": count, "source": source}
        for count, source in ((7, "0"), (4, "-1"), (9, f"{TAKE}\nAT = Out[4]"))
    ]
    answer = Notebook(reading.cells(json.dumps({"cells": entries}), "x")).answer("last_step")
    assert [count for count, *_ in answer.history.values()] == [7, 4, 9]


@pytest.mark.parametrize(
    ("line", "use"),
    [
        ("AT = !echo -1", "AT = int(AT[0])"),
        ("!echo -1 > at.txt", "AT = int(open('at.txt').read())"),
        ("%%capture shown\nprint(-1)", "AT = int(shown.stdout)"),
        ("%run -i settings.py", ""),
    ],
)
def test_a_verdict_names_the_line_of_ipython_that_is_missing(tmp_path, line, use):
    cells = [{"cell_type": "code", "source": source} for source in (START, line, use, TAKE)]
    path = tmp_path / "00_start_here.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    (verdict,) = grade(path, seed=1, only="last_step", plain=True).verdicts
    assert verdict.status is Status.crashed
    assert line.split("\n")[0] in verdict.message
    assert "cell 2, line 1" in verdict.message
