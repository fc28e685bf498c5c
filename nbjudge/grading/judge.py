"""One exercise, one submission, one verdict: runs the check and puts whatever happens into words.

A check that breaks is run once more on the course's own answer. If it breaks there too, the fault is shown to
be the course's and costs no marks; if not, the answer returned something that the check could not read, and
that is a wrong answer. Whatever else goes wrong in the judge is reported as "not graded": no marks are given
for what nobody has checked.
"""

import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import numpy as np

from nbjudge.clock import Overtime
from nbjudge.comparing.differences import WRONG_TYPE
from nbjudge.comparing.judging import Observation, Transcript, recording
from nbjudge.course import install_command
from nbjudge.exercise import Exercise, Mutant, NotPassed, Wrong
from nbjudge.grading.in_process import InProcess
from nbjudge.verdict import Status, Stopped, Verdict

NUMPY_ERRORS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
NUMPY_PRINTING = {
    "precision": 8,
    "threshold": 1000,
    "edgeitems": 3,
    "linewidth": 75,
    "suppress": False,
    "nanstr": "nan",
    "infstr": "inf",
    "sign": "-",
    "formatter": None,
    "floatmode": "maxprec",
    "legacy": False,
}
GRADE_AGAIN = "grade this exercise again; if that does not help, please report it"


def judge(
    exercise: Exercise, submission: Callable, seed: int, transcript: Transcript | None = None
) -> Verdict:
    """The verdict on a submission, a callable that runs the learner's function on copies.

    transcript: an empty one, which then has what was observed.
    """
    start = time.perf_counter()
    with own_settings():
        problem = run_check(exercise, submission, seed, transcript)
        if isinstance(problem, Exception) and not isinstance(problem, NotPassed):
            problem = find_fault(exercise, problem, seed)
        elif problem is not None:
            name_mistake(exercise, problem, seed)
    return verdict(exercise, problem, time.perf_counter() - start)


@contextmanager
def own_settings() -> Iterator[None]:
    """NumPy's own settings for a check, whatever a notebook has set to find its NaN or to print its digits.

    Nor does the learner's function see them; running/inside/calls.py.
    """
    with np.errstate(**NUMPY_ERRORS, call=None), np.printoptions(**NUMPY_PRINTING):
        yield


def verdict(exercise: Exercise, problem: NotPassed | None, seconds: float = 0.0) -> Verdict:
    """What an outcome means in points and words. A fault shown to be the course's own costs no points."""
    most = exercise.points
    if problem is None:
        return Verdict(exercise.name, Status.passed, most, most, "All cases agree.", seconds=seconds)
    following = problem.next_step
    if isinstance(problem, Wrong):
        status = Status.failed
        following = following or f"hint({exercise.name})"
    else:
        status = problem.status
    earned = most if status is Status.grader_error and problem.proven else 0
    return Verdict(
        exercise.name, status, earned, most, problem.message, problem.misconception, following, seconds
    )


def draws(exercise: Exercise, seed: int, *case: int) -> np.random.Generator:
    """The numbers that an exercise's check draws: its own for each case, whatever else has the same seed."""
    return np.random.default_rng([seed, zlib.crc32(exercise.name.encode()), *case])


def draw_cases(exercise: Exercise, seed: int) -> tuple[tuple, ...]:
    """Arguments of the check behind its generator, for each case."""
    cases = exercise.cases
    return tuple(cases(draws(exercise, seed))) if callable(cases) else cases


def _cases(exercise: Exercise, submission: Callable, seed: int, transcript: Transcript) -> Iterator[bool]:
    """Runs one case of the check after the other and adds to the transcript; True after each of them."""
    for number, case in enumerate(draw_cases(exercise, seed)):
        transcript.number = number
        transcript.case = describe_case(exercise, case)
        transcript.tell()
        try:
            with recording(transcript):
                exercise.check(submission, draws(exercise, seed, number), *case)
        except Wrong as wrong:
            transcript.add(Observation(wrong, wrong.message))
        except Exception as error:
            crashed = isinstance(error, Stopped) and error.status is Status.crashed
            if crashed:
                _keep_crash(transcript, error)
            elif transcript.first is None:
                raise
            return
        yield True


def _keep_crash(transcript: Transcript, crash: Stopped) -> None:
    """Adds the crash of an answer to the transcript, with the case that it crashed in."""
    if transcript.case:
        crash.message += f"\n({transcript.case})"
    transcript.crash = crash


def describe_case(exercise: Exercise, case: tuple) -> str:
    """ "T=3, B=2": the sizes of a case, by the names of the check's own parameters, else of the answer's."""
    bound = len(getattr(exercise.check, "args", ()))  # of a partial function
    check = getattr(exercise.check, "func", exercise.check)
    for function, first in ((check, bound + 2), (exercise.reference, 0)):
        code = getattr(function, "__code__", None)
        names = code.co_varnames[first : code.co_argcount] if code else ()
        if len(names) >= len(case):
            pairs = zip(names, case, strict=False)
            return ", ".join(f"{name}={part}" for name, part in pairs if _is_short(part) and part != "")
    return ""


def _is_short(part) -> bool:
    """Whether a part of a case can be shown as it is: a number, a text, sizes, or numbers by name."""
    if isinstance(part, dict):
        return all(isinstance(number, int | float) for number in part.values())
    return isinstance(part, int | float | str) or (isinstance(part, tuple) and len(repr(part)) < 40)


def name_mistake(exercise: Exercise, problem: NotPassed, seed: int) -> None:
    """Say which known mistake alone explains every case: its own answer, checked with the same numbers.

    To be called when the submission has ended: nothing of it may run beside the judge meanwhile.
    """
    transcript = getattr(problem, "transcript", None)
    if transcript is None or exercise.diagnoses:
        return
    explaining = {}
    for mutant in exercise.mutants:
        transcript.tell()
        with suppress(Exception):  # a mistake that breaks the check explains no answer that does not
            other = rehearse(exercise, mutant, seed, transcript)
            if transcript.repeats(other):
                explaining[mutant.name] = other
    if len(explaining) > 1:
        explaining = {name: other for name, other in explaining.items() if transcript.repeats_details(other)}
    if len(explaining) == 1:
        problem.misconception = next(iter(explaining))


def rehearse(exercise: Exercise, mutant: Mutant, seed: int, like: Transcript) -> Transcript:
    """What a check observes about a known mistake, up to the first that differs from `like`.

    A kernel that waits forever takes seconds, so nothing is launched that decides nothing.
    """
    transcript = Transcript(like)
    answer = InProcess(exercise.make(mutant), exercise.name, is_own=True)
    for _ in _cases(exercise, answer, seed, transcript):
        pass
    return transcript


def run_check(
    exercise: Exercise, submission: Callable, seed: int, transcript: Transcript | None = None
) -> BaseException | None:
    """None where the check passes; Wrong, Stopped, or the exception or Overtime that broke the check.

    All cases are run, up to an exception of the answer; of a check that names mistakes itself, up to the
    first that goes wrong.  The first difference goes before whatever stops a later case.  What was observed
    is kept with it.
    """
    transcript = transcript or Transcript()
    try:
        for _ in _cases(exercise, submission, seed, transcript):
            if exercise.diagnoses and transcript.first:
                break
    except (Exception, Overtime) as error:
        return error
    problem = transcript.first or transcript.crash
    if problem:
        problem.transcript = transcript
    return problem


def find_fault(exercise: Exercise, problem: BaseException, seed: int) -> NotPassed:
    """Whose fault it is that a check broke, found with the course's own answer: Wrong or a grader_error."""
    own = run_check(exercise, InProcess(exercise.reference, exercise.name), seed)
    if isinstance(own, ModuleNotFoundError):
        fault = f"The check of {exercise.name} needs the package {own.name}, which is missing: not graded."
        return Stopped(Status.grader_error, fault, f"{install_command()}, then grade again")
    if own is not None:
        fault = f"The check of {exercise.name} is broken ({_described(own)}); this costs no points."
        return Stopped(Status.grader_error, fault, "please report it", proven=True)
    if isinstance(problem, Overtime | OSError):  # may be this machine's fault
        fault = f"{exercise.name} could not be judged ({_described(problem)}): not graded."
        return Stopped(Status.grader_error, fault, GRADE_AGAIN)
    return Wrong(f"It returns something that the check cannot work with ({_described(problem)}).", WRONG_TYPE)


def _described(problem: BaseException) -> str:
    if isinstance(problem, Overtime):
        return "the judge's own computing did not come to an end"
    return f"{type(problem).__name__}: {problem}"
