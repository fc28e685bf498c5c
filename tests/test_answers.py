"""Answers written before the checks were read: right ones pass, wrong ones fail and are not misnamed.

tests/answers/<lesson>/<exercise>.py holds them as cells: `[right]`, and `[wrong] what is wrong`. Where those
words are a known mistake of the exercise, the check must say so; else it must not name another.
"""

import linecache
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rnnlab import checks, cuda
from rnnlab.checks.answers import answers
from rnnlab.grading import differences
from rnnlab.grading.in_process import InProcess
from rnnlab.grading.judge import judge
from rnnlab.grading.outcomes import CHANGED_INPUT
from rnnlab.percent import Cell, parse

FOLDER = Path(__file__).parent / "answers"
SEEDS = (1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3)))
KINDS = {  # names that say what kind of thing came back; they fit many mistakes
    CHANGED_INPUT,
    differences.NOT_FINITE,
    differences.WRONG_DTYPE,
    differences.WRONG_SHAPE,
    differences.WRONG_TYPE,
}


def _cells() -> list:
    """One test a cell, called by lesson, exercise, kind and title."""
    parameters = []
    for path in sorted(FOLDER.glob("*/*.py")):
        for number, cell in enumerate(parse(path.read_text(encoding="utf-8"), path.name), 1):
            label = f"{path.stem}-{cell.kind}-{cell.title or number}"
            parameters.append(pytest.param(path.parent.name[3:], path.stem, cell, id=label))
    return parameters


def function_in(cell: Cell, name: str, inputs: str) -> Callable:
    """The answer of a cell, run after what its exercise's notebook gives it."""
    label = f"<{name}: {cell.title or cell.line}>"
    linecache.cache[label] = (len(cell.text), None, cell.text.splitlines(True), label)
    namespace = {"np": np, "cuda": cuda, "__name__": label}
    exec(inputs, namespace)
    exec(compile(cell.text, label, "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("lesson", "name", "cell"), _cells())
def test_an_answer_gets_its_verdict_whatever_the_seed(seed, lesson, name, cell):
    _, exercise = checks.find(name)
    function = function_in(cell, name, answers(lesson)[name].prelude)
    verdict = judge(exercise, InProcess(function, name), seed)
    assert verdict.passed == (cell.kind == "right"), f"seed {seed}\n{verdict}"
    known = {mutant.name for mutant in exercise.mutants} - KINDS
    if cell.kind == "wrong" and cell.title in known:
        assert verdict.misconception == cell.title, f"seed {seed}\n{verdict}"
    elif cell.kind == "wrong":
        assert verdict.misconception not in known, f"seed {seed}\n{verdict}"


def test_what_is_given_to_an_answer_holds_no_statement_for_its_own_variables():
    fast_tanh = answers("numba_cpu")["fast_tanh"]  # its parameter a is also an array of its notebook
    assert fast_tanh.call(0.5, (1.0,), (1.0,), 9.0) == 0.5
    for lesson in checks.LESSONS:
        for name, answer in answers(lesson).items():
            assert "use(" not in answer.prelude, f"{name} is given the result of another exercise"
