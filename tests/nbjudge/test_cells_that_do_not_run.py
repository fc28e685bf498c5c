"""An answer in a cell that is not code, or that a newer Python wrote, gets a sentence that says so."""

import json
import sys

import pytest

from nbjudge.finding.notebook import Notebook
from nbjudge.finding.notebook_file import SMALL
from nbjudge.grading.grade import grade
from nbjudge.verdict import Status, Stopped

RIGHT = "def last_step(y):\n    return y[-1].copy()"
OWN = f"3.{sys.version_info.minor}.2"
NEWER = f"3.{sys.version_info.minor + 1}.0"


@pytest.fixture
def written(tmp_path):
    def write(*cells, version=OWN, padding=0):
        path = tmp_path / "00_start_here.ipynb"
        listed = [{"cell_type": kind, "metadata": {}, "source": source} for kind, source in cells]
        listed.append({"cell_type": "code", "outputs": ["x" * padding], "source": ""})
        metadata = {"language_info": {"name": "python", "version": version}}
        path.write_text(json.dumps({"cells": listed, "metadata": metadata, "nbformat": 4}))
        return path

    return write


def verdict(path, name="last_step"):
    (outcome,) = grade(path, seed=1, only=name, plain=True).verdicts
    return outcome


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_a_cell_that_is_text_is_named(written, kind):
    outcome = verdict(written(("code", "import numpy as np"), (kind, RIGHT)))
    assert outcome.status == Status.not_attempted
    assert "ell 2" in outcome.message
    assert "code cell" in outcome.next_step


@pytest.mark.parametrize(
    ("kind", "text", "status"),
    [
        ("markdown", "Mine:\n\n    def last_step(y):\n        return y[-1]", Status.not_attempted),
        ("raw", "last_step = lambda y: y[-1]", Status.not_attempted),
        ("code", "async def last_step(y:\n    return y[-1]", Status.crashed),
        ("code", "last_step = lambda y: y[-1", Status.crashed),
    ],
)
def test_a_text_that_does_not_run_is_named_before_the_stub(written, kind, text, status):
    stub = "def last_step(y):\n    raise NotImplementedError"
    for cells in ([(kind, text)], [("code", stub), (kind, text)]):
        outcome = verdict(written(*cells))
        assert outcome.status == status
        assert f"ell {len(cells)}" in outcome.message


def test_a_formula_in_prose_is_no_answer(written):
    stub = "def last_step(y):\n    raise NotImplementedError"
    outcome = verdict(written(("markdown", "    last_step = y_T - 0"), ("code", stub)))
    assert "NotImplementedError" in outcome.message


def test_a_code_cell_counts_more_than_a_text_that_shows_it(written):
    assert verdict(written(("markdown", RIGHT), ("code", RIGHT))).passed


def test_another_exercise_is_not_suggested(written):
    source = "def rnn_forward(x):\n    return x\ndef rnn_forward_batch(x):\n    pass"
    with pytest.raises(Stopped) as stopped:
        Notebook.read(written(("code", source))).answer("rnn_forward_batched")
    assert "rnn_forward_batch;" in stopped.value.message
    source = "def rnn_forward(x):\n    return x"
    with pytest.raises(Stopped) as stopped:
        Notebook.read(written(("code", source))).answer("rnn_forward_batched")
    assert "rnn_forward " not in stopped.value.message


@pytest.mark.parametrize(
    ("version", "status"),
    [(NEWER, Status.grader_error), (OWN, Status.crashed), ("3.7", Status.crashed), (3, Status.crashed)],
)
def test_a_newer_python_is_the_installations_fault(written, version, status):
    outcome = verdict(
        written(("code", "def last_step(y):\n    future syntax\n    return y[-1]"), version=version)
    )
    assert outcome.status == status
    assert outcome.points == 0


USES = "def last_step(y):\n    return near(y)[-1]"


@pytest.mark.parametrize(
    ("helper", "answer", "status"),
    [
        ("def near(y):\n    future syntax\n    return y", USES, Status.grader_error),
        ("near = future syntax", USES, Status.grader_error),
        ("import module_of_the_future as near", USES, Status.grader_error),
        (
            "import itertools as near",
            USES.replace("near(", "near.function_of_the_future("),
            Status.grader_error,
        ),
        ("other = future syntax", USES, Status.crashed),  # a name that stands nowhere
        ("near = future syntax", RIGHT, Status.passed),
        ("near = future syntax", "def last_step(y):\n    return y[0].copy()", Status.failed),
    ],
)
def test_what_a_newer_python_adds_is_the_installations_fault(written, helper, answer, status):
    assert verdict(written(("code", helper), ("code", answer), version=NEWER)).status == status
    if status == Status.grader_error:
        assert verdict(written(("code", helper), ("code", answer))).status == Status.crashed


def test_a_verdict_names_the_cell_that_cannot_be_parsed_and_would_count(written):
    wrong = ("code", "def last_step(y):\n    return y[0].copy()")
    broken = ("code", "def last_step(y):\n    return y[-1")
    assert "cell 2, line 2" in verdict(written(wrong, broken)).message
    assert "cell" not in verdict(written(wrong, ("code", "other = y[-1"))).message
    assert verdict(written(("code", RIGHT), broken)).passed


def test_the_version_of_a_large_notebook_is_read_too(written):
    path = written(("code", "def last_step(y):\n    future syntax"), version=NEWER, padding=SMALL)
    assert verdict(path).status == Status.grader_error


@pytest.mark.parametrize(
    "source",
    [
        "def last_step(y: ndarray) -> Array:\n    return y[-1].copy()",
        "class Step:\n    size: missing.Size = 1\n    def last(self, y: missing) -> missing:\n"
        "        return y[-1].copy()\n\ndef last_step(y):\n    return Step().last(y)",
        "from dataclasses import dataclass\n\n@dataclass\nclass Place:\n    index: Whole = -1\n\n"
        "def last_step(y):\n    return y[Place().index].copy()",
    ],
    ids=["function", "class", "dataclass"],
)
def test_no_annotation_is_evaluated(written, source):
    assert verdict(written(("code", source))).passed


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements are of Python 3.12")
@pytest.mark.parametrize("body", ["y[-1].copy()", "Outputs.__value__(y)[-1].copy()"])
def test_a_type_alias_gives_a_name(written, body):
    alias = ("code", "import numpy as np\ntype Outputs = np.asarray")
    answer = ("code", f"def last_step(y: Outputs) -> Outputs:\n    return {body}")
    assert verdict(written(alias, answer)).passed
