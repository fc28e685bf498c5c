"""One exercise, one submission, one verdict: runs the check and puts whatever happens into words.

A check that breaks is run once more on the course's own answer. If it breaks there too the fault is the
course's and costs no marks; if not, the answer returned something that the check could not read, and that is
a wrong answer.
"""

import time
import zlib
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from rnnlab.grading.differences import WRONG_TYPE
from rnnlab.grading.exercise import Exercise, Wrong
from rnnlab.grading.in_process import InProcess
from rnnlab.grading.judging import Observation, Transcript, recording
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
        status, message, misconception = problem.status, problem.message, problem.misconception
        following = problem.next_step
    earned = exercise.points if status in (Status.passed, Status.grader_error) else 0
    return Verdict(exercise.name, status, earned, exercise.points, message, misconception, following, seconds)


def draws(exercise: Exercise, seed: int, *case: int) -> np.random.Generator:
    """The numbers that an exercise's check draws: its own for each case, whatever else has the same seed."""
    return np.random.default_rng([seed, zlib.crc32(exercise.name.encode()), *case])


def observe(exercise: Exercise, submission: Callable, seed: int) -> Transcript:
    """All cases of the check, up to an exception of the answer. Raises what else stops it (Stopped)."""
    transcript = Transcript()
    cases = exercise.cases(draws(exercise, seed)) if callable(exercise.cases) else exercise.cases
    with recording(transcript):
        for number, case in enumerate(cases):
            try:
                exercise.check(submission, draws(exercise, seed, number), *case)
            except Wrong as wrong:
                transcript.observations.append(Observation(wrong, wrong.message))
            except Exception as error:
                if isinstance(error, Stopped) and error.status is Status.crashed:
                    transcript.crash = error
                elif transcript.first is None:
                    raise
                break
    return transcript


def mistake_named(exercise: Exercise, transcript: Transcript, seed: int) -> str | None:
    """The known mistake that alone explains every case: its own answer, checked with the same numbers."""
    explaining = {}
    for mutant in () if exercise.diagnoses else exercise.mutants:
        with suppress(Exception):  # a mistake that breaks the check explains no answer that does not
            other = observe(exercise, InProcess(exercise.mutated(mutant), exercise.name), seed)
            if transcript.repeats(other):
                explaining[mutant.name] = other
    if len(explaining) > 1:
        explaining = {
            name: other for name, other in explaining.items() if transcript.repeats_details(other)
        }
    return next(iter(explaining)) if len(explaining) == 1 else None


def _problem(exercise: Exercise, submission: Callable, seed: int) -> Wrong | Stopped | None:
    """The first difference goes before whatever stops a later case."""
    try:
        transcript = observe(exercise, submission, seed)
    except Stopped as stopped:
        return stopped
    except Exception as error:
        return _blame(exercise, error, seed)
    problem = transcript.first or transcript.crash
    if problem:
        problem.misconception = mistake_named(exercise, transcript, seed) or problem.misconception
    return problem


def _blame(exercise: Exercise, error: Exception, seed: int) -> Wrong | Stopped:
    try:
        own = observe(exercise, InProcess(exercise.reference, exercise.name), seed).first
    except Exception as again:
        own = again
    if own is None:
        said = f"It returns something that the check cannot work with ({type(error).__name__}: {error})."
        return Wrong(said, WRONG_TYPE)
    fault = f"The check of {exercise.name} is broken ({type(error).__name__}: {error}); this costs no points."
    return Stopped(Status.grader_error, fault, "please report it")
