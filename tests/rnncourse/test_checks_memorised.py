"""No exercise is passed by a table of its inputs: what remembers the cases of other checks fails."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from nbjudge.exercise import Code, Proxy
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from nbjudge.verdict import Status, Stopped
from rnncourse import checks

SEEDS = 40  # remembered, where the inputs are plain numbers
FEW = 2  # where they are arrays of random numbers, or lie with the judge: one draw is as good as many
EXERCISES = [exercise for _, exercise in checks.every()]


class Remembering:
    """A submission that runs the course's own answer and remembers what it saw; then only remembers."""

    def __init__(self, exercise):
        self.own, self.table, self.is_plain = InProcess(exercise.reference, exercise.name), {}, True

    def __call__(self, *arguments, **keywords):
        got = self.own(*arguments, **keywords)
        self.table[self.key(arguments)] = got
        self.is_plain &= not any(isinstance(part, np.ndarray | Code | Proxy) for part in arguments)
        return got

    def from_memory(self, *arguments, **keywords):
        key = self.key(arguments)
        if key not in self.table:
            raise Stopped(Status.crashed, "never seen")
        return self.table[key]

    def key(self, arguments):
        """What an answer can see of its arguments: of a function of the judge, its name."""
        return pickle.dumps([part.name if isinstance(part, Code | Proxy) else part for part in arguments])


@pytest.mark.corpus
@pytest.mark.parametrize("exercise", EXERCISES, ids=[exercise.name for exercise in EXERCISES])
def test_an_answer_that_remembers_its_inputs_fails(exercise, monkeypatch):
    # a simulated GPU takes seconds to say how fast the course's own answer is; nobody asks here
    monkeypatch.setattr(
        "rnncourse.checks.lesson_19_capstone.score", lambda problem, answer: SimpleNamespace(ratio=1.0)
    )
    memory = Remembering(exercise)
    for seed in range(SEEDS):
        if seed >= FEW and not memory.is_plain:
            break
        assert judge(exercise, memory, seed).passed
    unnamed = replace(exercise, mutants=())  # which mistake it looks like is nobody's question
    verdict = judge(unnamed, memory.from_memory, SEEDS)
    assert not verdict.passed
    assert verdict.status is not Status.grader_error
