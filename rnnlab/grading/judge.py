"""One exercise, one submission, one verdict: runs the check and puts whatever happens into words.

A check that breaks is run once more on the course's own answer. If it breaks there too, the fault is shown to
be the course's and costs no marks; if not, the answer returned something that the check could not read, and
that is a wrong answer. Whatever else goes wrong in the judge is reported as "not graded": no marks are given
for what nobody has checked.
"""

import time
import zlib
from collections.abc import Callable

import numpy as np

from rnnlab.grading.clock import Overtime
from rnnlab.grading.differences import WRONG_TYPE
from rnnlab.grading.exercise import Exercise, Wrong
from rnnlab.grading.in_process import InProcess
from rnnlab.grading.judging import deciding
from rnnlab.grading.verdict import Status, Stopped, Verdict

INSTALL = "pip install 'rnnlab[lab]', then grade again"
GRADE_AGAIN = "grade this exercise again; if that does not help, please report it"


def judge(exercise: Exercise, submission: Callable, seed: int) -> Verdict:
    """The verdict on a submission, a callable that runs the learner's function on copies."""
    start = time.perf_counter()
    problem = run_check(exercise, submission, seed)
    if isinstance(problem, Exception) and not isinstance(problem, Wrong | Stopped):
        problem = find_fault(exercise, problem, seed)
    return verdict(exercise, problem, time.perf_counter() - start)


def verdict(exercise: Exercise, problem: Wrong | Stopped | None, seconds: float = 0.0) -> Verdict:
    """What an outcome means in points and words. A fault shown to be the course's own costs no points."""
    if problem is None:
        status, message, misconception, following = Status.passed, "All cases agree.", None, None
    elif isinstance(problem, Wrong):
        status, message, misconception = Status.failed, problem.message, problem.misconception
        following = problem.next_step or f"hint({exercise.name})"
    else:
        status, message, misconception = problem.status, problem.message, None
        following = problem.next_step
    proven = status is Status.grader_error and problem.proven
    earned = exercise.points if status is Status.passed or proven else 0
    return Verdict(exercise.name, status, earned, exercise.points, message, misconception, following, seconds)


def draws(exercise: Exercise, seed: int) -> np.random.Generator:
    """The numbers that an exercise's check draws: its own, whatever else is graded with the same seed."""
    return np.random.default_rng([seed, zlib.crc32(exercise.name.encode())])


def run_check(exercise: Exercise, submission: Callable, seed: int) -> BaseException | None:
    """None where the check passes; Wrong, Stopped, or the exception or Overtime that broke the check."""
    with deciding() as undecided:
        try:
            exercise.check(submission, draws(exercise, seed))
        except Wrong as wrong:
            return undecided.settled(wrong)
        except (Exception, Overtime) as error:
            return undecided.settled() or error  # the first difference goes before what stops a later case
        return undecided.settled()


def find_fault(exercise: Exercise, problem: BaseException, seed: int) -> Wrong | Stopped:
    """Whose fault it is that a check broke, asked of the course's own answer: Wrong or a grader_error."""
    own = run_check(exercise, InProcess(exercise.truth, exercise.name), seed)
    if isinstance(own, ModuleNotFoundError):
        fault = f"The check of {exercise.name} needs the package {own.name}, which is missing: not graded."
        return Stopped(Status.grader_error, fault, INSTALL)
    if own is not None:
        fault = f"The check of {exercise.name} is broken ({_named(own)}); this costs no points."
        return Stopped(Status.grader_error, fault, "please report it", proven=True)
    if isinstance(problem, Overtime | OSError):  # may be this machine's fault
        fault = f"{exercise.name} could not be judged ({_named(problem)}): not graded."
        return Stopped(Status.grader_error, fault, GRADE_AGAIN)
    return Wrong(f"It returns something that the check cannot work with ({_named(problem)}).", WRONG_TYPE)


def _named(problem: BaseException) -> str:
    if isinstance(problem, Overtime):
        return "the judge's own computing did not come to an end"
    return f"{type(problem).__name__}: {problem}"
