"""Equal replies get equal observations, and whatever is new is checked as if nothing were known."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from nbjudge.comparing.judging import expect, refuse
from nbjudge.exercise import Code, Exercise, Mutant, Wrong
from nbjudge.grading import judge
from nbjudge.grading.grade import judge_apart
from nbjudge.running import sandbox
from nbjudge.running.worker import of_source

SOURCE = "def double(x):\n    return 2 * x\n"
TWICE = (
    "def count(x):\n    trace.append(float(x))\n    if len(trace) > 2:\n        raise Wrong('three calls')\n"
)


def exercise_of(check, cases=((2,), (3,))):
    """An exercise `double`, and one that adds for multiplies as its known mistake."""

    @cache
    def make(mutant):
        source = SOURCE.replace(mutant.old, mutant.new) if mutant else SOURCE
        scope = {"np": np}
        exec(source, scope)
        return scope["double"]

    mutants = (Mutant("adds", "2 * x", "2 + x"),)
    return Exercise("double", 1, 1, 1, 1, ("", "", ""), check, cases, make, mutants, (), seconds=10.0)


def grade(exercise, source, seed=0):
    return judge_apart(exercise, of_source("double", source), seed, sandbox.choose(plain=True))


@pytest.fixture
def counted():
    """An exercise, and how often its check has run for each size."""
    runs = []

    def check(submission, rng, size):
        runs.append(size)
        x = rng.standard_normal(size)
        if expect(submission(x), 2 * x, axes=("unit",), case=f"size {size}"):
            refuse(None if submission(-x)[0] == -2 * x[0] else "It is odd for no reason.")

    return exercise_of(check), runs


def test_a_check_runs_once_for_equal_replies_and_says_the_same(counted):
    exercise, runs = counted
    verdicts = [grade(exercise, source) for source in (SOURCE, SOURCE, "double = lambda x: x + x\n")]
    assert [bool(verdict) for verdict in verdicts] == [True] * 3
    assert runs == [2, 3]


def test_a_reply_that_is_new_is_checked_with_those_before_it(counted):
    exercise, runs = counted
    assert grade(exercise, SOURCE)
    late = "def double(x):\n    return 2 * x if x.size == 2 or x[0] > 0 else x\n"
    seed = next(s for s in range(9) if judge.draws(exercise, s, 1).standard_normal(3)[0] > 0)
    assert grade(exercise, SOURCE, seed)
    before = len(runs)
    verdict = grade(exercise, late, seed)
    assert verdict.status == "failed"
    assert "for no reason" in verdict.message
    assert runs[before:] == [3, 2], "the case with the new reply, and the first one of the known mistake"
    assert grade(exercise, late, seed).message == verdict.message
    assert len(runs) == before + 2


def test_a_known_mistake_is_named_with_and_without_what_is_known(counted):
    exercise, runs = counted
    wrong = SOURCE.replace("2 *", "2 +")
    first, second = grade(exercise, wrong), grade(exercise, wrong)
    assert first.misconception == second.misconception == "adds"
    assert first.message == second.message
    assert runs == [2, 3], "the rehearsal, too, has the answer's replies"
    other = grade(exercise, SOURCE.replace("2 *", "3 *"))
    assert other.misconception is None


def test_another_seed_has_other_replies(counted):
    exercise, runs = counted
    assert grade(exercise, SOURCE, 0)
    assert grade(exercise, SOURCE, 1)
    assert runs == [2, 3] * 2


def test_calls_of_the_judges_functions_are_counted_again_where_a_reply_is_new():
    traces = []

    def check(submission, rng, size):
        trace = []
        traces.append(trace)
        got = submission(np.ones(size), Code(TWICE, "count", trace))
        expect(got, 2 * np.ones(size), axes=("unit",))
        refuse(None if trace == [1.0, 2.0] else f"It counts {trace}.")

    exercise = exercise_of(check)
    body = "def double(x, count):\n    count(1.0)\n    count(2.0)\n    {}\n    return 2 * x\n"
    right, too_often = body.format(""), body.format("count(3.0)")
    caught = body.format("try:\n        count(3.0)\n    except Exception:\n        pass")
    assert grade(exercise, right)
    assert grade(exercise, right)
    assert len(traces) == 2
    for source in (too_often, caught, too_often):
        verdict = grade(exercise, source)
        assert verdict.status == "failed"
        assert "three calls" in verdict.message
    assert not grade(exercise, body.format("").replace("count(2.0)", "count(1.0)"))
    assert traces[-1] == [1.0, 1.0]
    assert grade(exercise, right)


def test_an_answer_that_ends_its_process_is_seen_in_each_place(counted):
    exercise, _ = counted
    assert grade(exercise, SOURCE)
    ends = "import os\ndef double(x):\n    {}\n    return 2 * x\n"
    for condition in ("os._exit(3)", "if x.size == 3: os._exit(3)", "if x[0] < 0: os._exit(3)"):
        verdict = grade(exercise, ends.format(condition))
        assert verdict.status == "crashed"
        assert "exit code 3" in verdict.message


def test_a_check_that_sends_something_else_after_the_same_replies_is_made_anew():
    numbers = iter(range(100))

    def check(submission, rng, size):
        x = np.full(size, float(next(numbers)))
        expect(submission(x), 2 * x, axes=("unit",))
        expect(submission(x), 2 * x, axes=("unit",))

    exercise = exercise_of(check)
    assert grade(exercise, SOURCE)
    assert grade(exercise, "def double(x):\n    double.n = getattr(double, 'n', 0) + 1\n    return 2 * x\n")
    wrong = grade(exercise, SOURCE.replace("2 *", "2 +"))
    assert wrong.status == "failed"


def test_no_more_is_kept_than_there_is_room_for(counted, monkeypatch):
    exercise, runs = counted
    monkeypatch.setattr("nbjudge.grading.replies.ROOM", 0)
    assert grade(exercise, SOURCE)
    assert grade(exercise, SOURCE)
    assert runs == [2, 3] * 2


def test_what_a_clock_has_found_is_measured_again():
    runs = []

    def check(submission, rng, size):
        runs.append(size)
        submission(np.ones(size))
        slow = Wrong("It is slow.")
        slow.by_clock = True
        refuse(slow if len(runs) == 1 else None)

    exercise = exercise_of(check, ((2,),))
    exercise = replace(exercise, mutants=())
    assert [grade(exercise, SOURCE).status for _ in range(3)] == ["failed", "passed", "passed"]
    assert len(runs) == 2


def test_a_known_mistake_of_one_answer_is_not_carried_to_another():
    def check(submission, rng, size):
        if submission(np.ones(size))[0] != 2:
            raise Wrong("It is wrong.")

    exercise = exercise_of(check, ((2,), (3,)))
    both = "def double(x):\n    return 2 + x\n"
    assert grade(exercise, both).misconception == "adds"
    one = "def double(x):\n    return 2 + x if x.size == 2 else 2 * x\n"
    assert grade(exercise, one).misconception is None
