"""The grader held against itself, before it grades anyone: untouched exercises get nothing, solutions
everything, each known wrong answer fails with its mistake named, and right answers written differently pass.

"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nbjudge.course import current
from nbjudge.exercise import Exercise, Mutant
from nbjudge.finding.notebook import Notebook
from nbjudge.finding.notebook_file import Unusable
from nbjudge.grading.grade import grade_one, judge_apart
from nbjudge.running.learner_answer import of_source
from nbjudge.running.sandbox import CHECKOUT, Sandbox
from nbjudge.verdict import Status, Verdict

NUMPY = "import numpy as np\n"


class CheckedAnswer(NamedTuple):
    """One answer whose verdict is known beforehand, and the verdict that it got."""

    lesson: str
    exercise: str
    answer: str  # "stub", "solution", "right answer 1", "mutant: forgets the bias"
    wanted: tuple[Status, str | None]  # status and misconception
    verdict: Verdict

    @property
    def as_wanted(self) -> bool:
        status = self.verdict.status
        named = self.verdict.misconception
        if (
            status is Status.crashed and named
        ):  # a known mistake may end in an exception: it still has its name
            status = Status.failed
        return (status, named) == self.wanted


def findings(lesson: str, box: Sandbox, seed: int) -> Iterator[CheckedAnswer]:
    """Every answer of a lesson whose verdict is known; Unusable where the course's solutions are missing."""
    if not notebook("solutions", lesson).exists():
        raise Unusable("--self-check judges solutions/, which this installation lacks: run it in a clone")
    stubs, solved = (Notebook.read(notebook(folder, lesson)) for folder in ("exercises", "solutions"))
    for exercise in current().exercises(lesson):
        for name, wanted, verdict in _of_one(exercise, stubs, solved, box, seed):
            yield CheckedAnswer(lesson, exercise.name, name, wanted, verdict)


def notebook(folder: str, lesson: str) -> Path:
    """The notebook of a lesson in exercises/ or solutions/."""
    return CHECKOUT / folder / f"{current().lessons[lesson]}.ipynb"


def mutated(solved: Notebook, name: str, mutant: Mutant) -> Notebook:
    """A solved notebook with a mutant's edit made in the cell that defines the exercise's function."""
    cell = solved.cell_of(name)
    if mutant.old not in cell.text:
        raise ValueError(f"the mutant {mutant.name!r} of {name} is stale: the solution has no {mutant.old!r}")
    return solved.with_text(cell, cell.text.replace(mutant.old, mutant.new))


def _of_one(
    exercise: Exercise, stubs: Notebook, solved: Notebook, box: Sandbox, seed: int
) -> Iterator[tuple]:
    yield "stub", (Status.not_attempted, None), grade_one(exercise, stubs, seed, box)
    yield "solution", (Status.passed, None), grade_one(exercise, solved, seed, box)
    for n, source in enumerate(exercise.right, 1):
        answer = of_source(exercise.name, NUMPY + source)
        yield f"right answer {n}", (Status.passed, None), judge_apart(exercise, answer, seed, box)
    for mutant in exercise.mutants:
        verdict = grade_one(exercise, mutated(solved, exercise.name, mutant), seed, box)
        yield f"mutant: {mutant.name}", (Status.failed, mutant.name), verdict
