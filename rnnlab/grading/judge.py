"""One exercise, one submission, one verdict: runs the check and puts whatever happens into words.

A check that breaks is run once more on the course's own answer. If it breaks there too the fault is the
course's and costs no marks; if not, the answer returned something that the check could not read, and that is
a wrong answer.
"""

import time
import zlib
from collections.abc import Callable

import numpy as np

from rnnlab.grading.differences import WRONG_TYPE
from rnnlab.grading.exercise import Exercise, Wrong
from rnnlab.grading.in_process import InProcess
from rnnlab.grading.judging import deciding
from rnnlab.grading.verdict import Status, Stopped, Verdict


def judge(exercise: Exercise, submission: Callable, seed: int) -> Verdict:
    """The verdict on a submission, a callable that runs the learner's function on copies."""
    start = time.perf_counter()
    problem = _problem(exercise, submission, seed)
    return verdict(exercise, problem, time.perf_counter() - start)


def verdict(exercise: Exercise, problem: Wrong | Stopped | None, seconds: float = 0.0) -> Verdict:
    """What an outcome means in points and words. The course's own fault costs no points."""
    if problem is None:
        status, message, misconception, following = Status.passed, "All cases agree.", None, None
    elif isinstance(problem, Wrong):
        status, message, misconception = Status.failed, problem.message, problem.misconception
        following = problem.next_step or f"hint({exercise.name})"
    else:
        status, message, misconception = problem.status, problem.message, None
        following = problem.next_step
    earned = exercise.points if status in (Status.passed, Status.grader_error) else 0
    return Verdict(exercise.name, status, earned, exercise.points, message, misconception, following, seconds)


def draws(exercise: Exercise, seed: int) -> np.random.Generator:
    """The numbers that an exercise's check draws: its own, whatever else is graded with the same seed."""
    return np.random.default_rng([seed, zlib.crc32(exercise.name.encode())])


def _problem(exercise: Exercise, submission: Callable, seed: int) -> Wrong | Stopped | None:
    try:
        return _difference(exercise, submission, seed)
    except Stopped as stopped:
        return stopped
    except Exception as error:
        return _blame(exercise, error, seed)


def _difference(exercise: Exercise, submission: Callable, seed: int) -> Wrong | None:
    """What a check finds; the first difference goes before whatever stops a later case."""
    with deciding() as undecided:
        try:
            exercise.check(submission, draws(exercise, seed))
        except Wrong as wrong:
            return undecided.settled(wrong)
        except Exception:
            if undecided.first is None:
                raise
        return undecided.settled()


def _blame(exercise: Exercise, error: Exception, seed: int) -> Wrong | Stopped:
    try:
        own = _difference(exercise, InProcess(exercise.truth, exercise.name), seed)
    except Exception as again:
        own = again
    if own is None:
        said = f"It returns something that the check cannot work with ({type(error).__name__}: {error})."
        return Wrong(said, WRONG_TYPE)
    fault = f"The check of {exercise.name} is broken ({type(error).__name__}: {error}); this costs no points."
    return Stopped(Status.grader_error, fault, "please report it")
