"""Answers written before the checks were read: right ones pass, wrong ones fail and are not misnamed.

tests/answers/<lesson>/<exercise>.py holds them as cells: `[right]`, and `[wrong] what is wrong`, each a
program or the edits of one (answer_cells.py). Where those words are a known mistake of the exercise, the
check must say so; else it must not name another.

Every answer is judged once. The corpus has three further seeds for those without kernels.
"""

from collections.abc import Callable

import numpy as np
import pytest
from answer_cells import FOLDER, answer_cells, expanded
from launches import names_of

from nbjudge.authoring.percent import SourceCell, SourceError, parse
from nbjudge.comparing import differences
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from nbjudge.running.conversation import CHANGED_INPUT
from pocketgpu import cuda
from rnncourse import checks
from rnncourse.checks.answers import answers

SEEDS = (2, 3, 4)
COSTLY = "train_filter", "fast_tanh"  # seconds an answer, as kernels take
KINDS = {  # names that say what kind of thing came back; they fit many mistakes
    CHANGED_INPUT,
    differences.NOT_FINITE,
    differences.WRONG_DTYPE,
    differences.WRONG_SHAPE,
    differences.WRONG_TYPE,
}


CELLS = {  # {exercise: (its lesson, cells)}
    name: (lesson, cells) for lesson in checks.LESSONS for name, cells in answer_cells(lesson).items()
}
PLAIN = [
    name for name, (_, cells) in CELLS.items() if name not in COSTLY and "@cuda.jit" not in cells[0].text
]


def _parameters() -> list:
    """One test an answer; test_exercises.py tries the costly exercises in the quick leg."""
    return [
        pytest.param(
            lesson,
            name,
            cell,
            id=f"{name}-{cell.kind}-{cell.title or number}",
            marks=() if name in PLAIN else pytest.mark.slow,
        )
        for name, (lesson, cells) in CELLS.items()
        for number, cell in enumerate(cells, 1)
    ]


def function_in(cell: SourceCell, name: str, inputs: str) -> Callable:
    """The answer of a cell, run after what its exercise's notebook gives it."""
    label = f"<{name}: {cell.title or cell.line}>"
    scope = {"np": np, "cuda": cuda, "__name__": label}
    exec(inputs, scope)
    return names_of(cell.text, label, **scope)[name]


def assert_verdict(lesson: str, name: str, cell: SourceCell, seed: int) -> None:
    """The verdict that the cell's kind and title say."""
    _, exercise = checks.find(name)
    function = function_in(cell, name, answers(lesson)[name].prelude)
    verdict = judge(exercise, InProcess(function, name), seed)
    assert verdict.passed == (cell.kind == "right"), f"{cell.title}, seed {seed}\n{verdict}"
    known = {mutant.name for mutant in exercise.mutants} - KINDS
    if cell.kind == "wrong" and cell.title in known:
        assert verdict.misconception == cell.title, f"{cell.title}, seed {seed}\n{verdict}"
    elif cell.kind == "wrong":
        assert verdict.misconception not in known, f"{cell.title}, seed {seed}\n{verdict}"


@pytest.mark.parametrize(("lesson", "name", "cell"), _parameters())
def test_an_answer_gets_its_verdict(lesson, name, cell):
    assert_verdict(lesson, name, cell, seed=1)


@pytest.mark.corpus
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", PLAIN)
def test_no_verdict_on_an_answer_or_a_known_mistake_depends_on_the_seed(name, seed):
    lesson, cells = CELLS[name]
    _, exercise = checks.find(name)
    for cell in cells:
        assert_verdict(lesson, name, cell, seed)
    for mutant in exercise.mutants:
        verdict = judge(exercise, InProcess(exercise.make(mutant), name), seed)
        assert verdict.misconception == mutant.name, f"seed {seed}\n{verdict}"


def test_every_file_of_answers_is_read_and_holds_right_and_wrong_ones():
    assert CELLS.keys() == {path.stem for path in FOLDER.glob("*/*.py")}
    assert {cell.kind for _, cells in CELLS.values() for cell in cells} == {"right", "wrong"}


BASES = """# %% [wrong] edits the solution
# - return x
# + return 0
# %% [right]
def f(x):
    y = x
    return y
# %% [right]
# - return y
# + return y + 0
# %% [wrong] edits the program above
# -     y = x
# +     y = -x
# - return y
# + return y[0]
"""


def test_an_edit_changes_the_program_above_it_or_the_solution():
    cells = [*expanded(parse(BASES, "f.py"), "def f(x):\n    return x\n")]
    assert [cell.text.split("\n")[1:] for cell in cells] == [
        ["    return 0"],
        ["    y = x", "    return y"],
        ["    y = x", "    return y + 0"],
        ["    y = -x", "    return y[0]"],
    ]


@pytest.mark.parametrize("solution", ["def f(x):\n    return 1\n", "return x; return x"])
def test_an_edit_whose_old_lines_do_not_occur_once_is_refused_with_its_line(solution):
    with pytest.raises(SourceError, match=r"f\.py:1: .*'return x' [02] times"):
        [*expanded(parse(BASES, "f.py"), solution)]


def test_what_is_given_to_an_answer_holds_no_statement_for_its_own_variables():
    fast_tanh = answers("numba_cpu")["fast_tanh"]  # its parameter a is also an array of its notebook
    assert fast_tanh.call(0.5, (1.0,), (1.0,), 9.0) == 0.5
