"""Every exercise of the course, answered as students write: `check` in a notebook and a grade give the same
verdict, passed where the style names no other.
"""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from nbjudge.verdict import Status
from rnncourse import checks
from rnncourse.checks.answers import answers

TESTS = Path(__file__).parents[1]
FILE = TESTS / "fixtures" / "exercise_styles.txt"
DRAWN = {"functions": 3, "kernels": 1}  # exercises for a style of that kind
COSTLY = "train_filter", "fast_tanh", "my_schedule"  # seconds a check: drawn for no style
SOLUTION = re.compile(r"^( *)SOLUTION(?: as (\w+)| of (\w+))?$", re.M)
GROUP = 17  # styles whose answers are judged one after another in one process


def styles():
    """{"exercise: style": (exercise, cells, status)} of the file."""
    names = {"functions": [], "kernels": []}
    for name in (answer.name for lesson in checks.LESSONS for answer in answers(lesson).values()):
        if name not in COSTLY:
            names["kernels" if "@cuda.jit" in _source(name) else "functions"].append(name)
    chosen_styles = {}
    for number, block in enumerate(re.split(r"^=== ", FILE.read_text("utf-8"), flags=re.M)[1:]):
        title, _, body = block.partition("\n")
        title, _, status = title.partition(" -> ")
        chosen, _, style = title.partition(": ")
        drawn = chosen.split()
        if kind := names.get(chosen):
            steps = range(number * 5, number * 5 + len(kind), len(kind) // DRAWN[chosen])
            drawn = [kind[step % len(kind)] for step in steps][: DRAWN[chosen]]
        for name in drawn:
            chosen_styles[f"{name}: {style}"] = name, _cells(name, body), status or Status.passed.value
    return chosen_styles


def _cells(name, body):
    """The exercise notebook's first cell, and those of a style."""

    def solution(match):
        indent, other, of = match.groups()
        source = _source(of or name).rstrip("\n")
        source = re.sub(rf"\b{name}\b", other, source) if other else source
        return textwrap.indent(source, indent)

    body = SOLUTION.sub(solution, body).replace("EXERCISE", name)
    return [_first_cell(name), *(cell.removesuffix("\n") for cell in re.split(r"^---\n", body, flags=re.M))]


def _source(name):
    return answers(checks.find(name)[0])[name].source


def _first_cell(name):
    path = TESTS.parent / "exercises" / f"{checks.LESSONS[checks.find(name)[0]]}.ipynb"
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


STYLES = styles()


def verdicts(names):
    """{name: {"check": [status, message], "grade": the same}} where one is other than the file says."""
    inputs = json.dumps({name: STYLES[name][:2] for name in names})
    command = [sys.executable, str(TESTS / "style_verdicts.py"), "grade", "check"]
    done = subprocess.run(command, input=inputs, capture_output=True, text=True, timeout=1000)
    assert done.returncode == 0, done.stderr[-2000:]
    outcomes = json.loads(done.stdout)
    assert outcomes.keys() == {*names}
    as_said = lambda name: {status for status, _ in outcomes[name].values()} == {STYLES[name][2]}
    return {name: outcomes[name] for name in names if not as_said(name)}


@pytest.mark.corpus
@pytest.mark.parametrize("first", range(GROUP))
def test_honest_styles_pass_check_and_grade(first):
    assert verdicts([*STYLES][first::GROUP]) == {}


def test_the_styles_answer_every_exercise():
    names = [answer.name for lesson in checks.LESSONS for answer in answers(lesson).values()]
    assert len(STYLES) >= 184
    assert {name for name, _, _ in STYLES.values()} == {*names}
