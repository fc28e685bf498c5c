"""What watches and counts an answer lies with the judge: to look at it or change it earns nothing."""

# ruff: noqa: E501 -- lines of answers

import pytest

from nbjudge.comparing.judging import Transcript, expect, recording
from nbjudge.exercise import Code, Exercise
from nbjudge.grading.grade import judge_apart
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from nbjudge.running.learner_answer import of_source
from nbjudge.running.sandbox import choose
from nbjudge.verdict import Status
from rnncourse.checks.answers import ModelAnswer
from rnncourse.checks.traces import require_calls


def once(double):
    return double(2)


def answer_of(source):
    """The course's own answer, for what reads the calls that it makes."""
    return ModelAnswer("f", 1, 1, 1, 1, ("", "", ""), (), (), "import numpy as np", source)


def exercise_with(source, look):
    def check(submission, rng):
        trace = []
        expect(submission(Code(source, "double", trace)), 4, what="y")
        look(trace)

    fields = {"name": "f", "points": 1, "difficulty": 1, "minutes": 1, "lines": 1, "hints": ("", "", "")}
    return Exercise(**fields, check=check, cases=((),), make=lambda mutant: once, mutants=(), right=())


DOUBLE = """
calls = 0
def double(x):
    global calls
    calls += 1
    trace.append(("double", x))
    if calls > 1:
        raise Wrong("called twice", "calls twice")
    return 2 * x
double.most = 1
"""
ANSWERS = {  # source of f: status in both worlds
    "def f(double):\n    return double(2)\n": Status.passed,
    "def f(double):\n    return 2 * (double.most + 1)\n": Status.failed,  # the trace is empty
    "def f(double):\n    return double(2) + 0 * double(2)\n": Status.failed,
    "def f(double):\n    try:\n        double(2), double(2)\n    except BaseException:\n        pass\n    return 4\n": Status.failed,
    "def f(double):\n    return double(lambda: 1)\n": Status.crashed,
    "def f(double):\n    return double(None)\n": Status.crashed,
    "def f(double):\n    return double(list(range(9000)))\n": Status.crashed,
    "def f(double):\n    return double.__globals__['calls']\n": Status.crashed,
}


@pytest.mark.parametrize("apart", [False, True], ids=["in a notebook", "apart"])
@pytest.mark.parametrize("source", ANSWERS)
def test_a_function_of_the_judge_counts_and_refuses_in_both_worlds(source, apart):
    def look(trace):
        require_calls(answer_of("def f(double):\n    return double(2)"), trace, (Code(DOUBLE, "double"),))

    exercise = exercise_with(DOUBLE, look)
    if apart:
        verdict = judge_apart(exercise, of_source("f", source), 1, choose())
    else:
        namespace = {}
        exec(source, namespace)
        verdict = judge(exercise, InProcess(namespace["f"]), 1)
    assert verdict.status is ANSWERS[source], verdict


def test_a_needed_call_that_is_missing_is_named():
    transcript, answer = Transcript(), answer_of("def f(double):\n    return double(np.ones(2))")
    with recording(transcript):
        require_calls(answer, [], (Code(DOUBLE, "double"),))
    assert {"double", "1"} < {*transcript.first.message.split()}


def test_the_teacher_is_shown_the_line_that_looked():
    source = "def f(double):\n    count = double.__globals__\n    return double(2)\n"
    exercise = exercise_with(DOUBLE, lambda trace: None)
    verdict = judge_apart(exercise, of_source("f", source), 1, choose())
    assert verdict.looks == ("cell 1, line 2: count = double.__globals__",)
    honest = judge_apart(exercise, of_source("f", "def f(double):\n    return double(2)\n"), 1, choose())
    assert honest.looks == ()
