"""Grade a class: plan what is missing, hand it to an engine, and write each result as soon as it stands.

A run may be killed at any moment. What was graded is in files of its own; the next run with --resume grades
the rest, with the same seeds, and ends with the same results.
"""

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from tqdm import tqdm

from nbjudge.classroom import keys, results, submissions, versions
from nbjudge.classroom.engines import Engine
from nbjudge.classroom.results import Result
from nbjudge.classroom.submissions import Submission
from nbjudge.finding.notebook_file import Unusable
from nbjudge.running import sandbox

Tell = Callable[[str], None]
STOPS = signal.SIGTERM, signal.SIGHUP
PAUSE = 30.0  # seconds between two lines of progress where nobody watches a terminal


@dataclass
class Plan:
    """What a run has to do."""

    jobs: list[dict] = field(default_factory=list)
    done: list[Result] = field(default_factory=list)  # of the code that would grade now
    outdated: list[Result] = field(default_factory=list)  # of an earlier version of it


def plan(folder: Path, plain: bool = False) -> Plan:
    """What of a class is graded, and the jobs for the rest. Raises Unusable where nothing is there."""
    counting = submissions.graded(submissions.load(folder))
    counting.sort(key=lambda entry: entry.lesson)  # a judge keeps what it has computed for a lesson
    if not counting:
        raise Unusable(
            f"{folder} has no submission to grade; its submissions.jsonl gives each file's reason."
        )
    key = keys.class_key(folder)
    variants = keys.settings(folder).get("variants") or ()
    known = {result.place: result for result in results.repair(folder)}
    planned = Plan()
    for entry in counting:
        job = job_of(folder, entry, key, variants, plain)
        result = known.get(entry.place)
        if result is None or result.seed != job["seed"]:
            planned.jobs.append(job)
        else:
            (planned.done if is_current(result, job) else planned.outdated).append(result)
    if problem := next(filter(None, map(results.notebook_problem, planned.jobs)), ""):
        raise Unusable(problem)
    return planned


def job_of(folder: Path, entry: Submission, key: bytes, variants: list[str], plain: bool) -> dict:
    """The job of a submission. It holds what is drawn from the class key, and not the key."""
    student = entry.student
    lesson = entry.lesson
    digest = entry.sha256
    return {
        "student": student,
        "lesson": lesson,
        "submission": digest,
        "path": str((folder / entry.file).absolute()),
        "seed": keys.seed(key, lesson, student, digest),
        "token": keys.token(key, "variant", lesson, student) if lesson in variants else None,
        "grader": versions.grader_digest(lesson),
        "plain": plain,
        "names": None,
        "passed_over": [],
    }


def is_current(result: Result, job: dict) -> bool:
    """Was all of a result graded by the code that would grade it now?"""
    graders = {exercise["grader"] for exercise in result.exercises} or {result.grader}
    return graders == {job["grader"]}


def result_of(job: dict, outcome: dict) -> Result:
    """The result that a job's outcome is."""
    exercises = tuple(outcome["exercises"])
    variant = outcome["variant"] or None
    graders = {exercise["grader"] for exercise in exercises} or {job["grader"]}
    return Result(
        student=job["student"],
        lesson=job["lesson"],
        submission=job["submission"],
        grader=graders.pop() if len(graders) == 1 else None,
        key=results.key_of(job["submission"], graders or {job["grader"]}, job["seed"], variant),
        seed=job["seed"],
        variant=variant,
        sandbox=outcome["sandbox"] or ("plain" if job["plain"] else "bubblewrap"),
        limits_by=outcome.get("limits_by", ""),
        problem=outcome["problem"],
        score=sum(exercise["points"] for exercise in exercises),
        max_score=outcome["max_score"],
        exercises=exercises,
        graded=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(outcome.get("seconds", 0.0), 3),
    )


def grade_class(
    folder: Path, engine: Engine, tell: Tell, *, resume: bool = False, plain: bool = False
) -> list[Result]:
    """Grade what is missing of a class; all results that there are at the end.

    Raises Unusable where the class has results and `resume` is not set, where answers would not run in the
    sandbox, or where the disk refuses a result; all earlier ones are kept.
    """
    refuse_without_sandbox(plain)
    planned = plan(folder, plain)
    graded = len(planned.done) + len(planned.outdated)
    if graded and not resume:
        raise Unusable(
            f"{graded} of {graded + len(planned.jobs)} submissions are graded: --resume grades the rest, "
            "rnnlab class regrade shows what another run would change."
        )
    for line in _before(folder, planned, graded):
        tell(line)
    with _stopped_by_signals():
        write_outcomes(folder, planned.jobs, engine)
    return results.repair(folder)


def write_outcomes(folder: Path, jobs: list[dict], engine: Engine, below: str = "results") -> None:
    """Grade the jobs and write each result below a folder of the class."""
    faults = 0
    with progress_bar(len(jobs)) as bar:
        try:
            for number, (job, outcome) in enumerate(engine(jobs), 1):
                if isinstance(outcome, BaseException):
                    raise outcome
                result = result_of(job, outcome)
                _write(folder, below, result, number)
                faults += bool(result.faults)
                bar.set_postfix_str((f"{faults} with a fault of the grader" if faults else ""), refresh=False)
                bar.update()
        except KeyboardInterrupt:
            state = f"stopped: {bar.n} of {len(jobs)} are graded and kept"
            bar.write(f"{state}; the same command goes on, grade with --resume", file=bar.fp)
            raise


def _write(folder: Path, below: str, result: Result, number: int) -> None:
    try:
        results.write(folder / below, result)
    except OSError as error:
        raise Unusable(
            f"the result of {result.student} could not be written: {error.strerror}. The {number - 1} graded "
            "before it are kept: make room, or make the folder writable, then go on with --resume."
        ) from error


def refuse_without_sandbox(plain: bool) -> None:
    """Unusable where the answers of a class would run without bubblewrap and nobody has accepted that."""
    if not plain and (why := sandbox.choose().why):
        raise Unusable(
            f"answers would run in plain mode, because {why}. Strangers' code could then read this class: "
            "install bubblewrap, or accept that with --plain."
        )


def _before(folder: Path, planned: Plan, graded: int) -> Iterator[str]:
    """What a run states before it begins."""
    if keys.is_exposed(folder):
        yield f"other accounts of this machine can read {folder / 'class.key'}: chmod 600 keeps it yours"
    if graded:
        yield f"{graded} are graded already"
    if planned.outdated:
        yield (
            f"{len(planned.outdated)} of them by another version of the checks; they stay as they are: "
            "rnnlab class regrade shows what would change"
        )
    yield f"{len(planned.jobs)} to grade"


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let the signals that end a batch job or a terminal end the run as Ctrl-C does, unless nohup ignores
    them."""
    numbers = [number for number in STOPS if signal.getsignal(number) is not signal.SIG_IGN]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    previous = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def describe(listed: list[Result]) -> Iterator[str]:
    """The end of a run in words: points, what could not be graded, and the grader's own faults apart."""
    graded = [result for result in listed if result.problem is None]
    for lesson in sorted({result.lesson for result in graded}):
        scores = [result.score for result in graded if result.lesson == lesson]
        best = max(result.max_score for result in graded if result.lesson == lesson)
        yield f"{lesson}: {len(scores)} graded, median {median(scores):g} of {best} points"
    for result in listed:
        if result.problem:
            yield f"✘ {result.student}, {result.lesson}: {result.problem}"
    for result in listed:
        for exercise in result.exercises:
            if exercise["fault"]:
                yield f"⚠ not judged: {result.student}, {exercise['name']}: {exercise['message']}"


def without_faults(listed: list[Result]) -> bool:
    """Was everything judged?"""
    return not any(result.faults for result in listed)


def merged(old: Result, new: Result) -> Result:
    """The old result with the new one's exercises in their places."""
    fresh = {exercise["name"]: exercise for exercise in new.exercises}
    exercises = tuple(fresh.get(exercise["name"], exercise) for exercise in old.exercises)
    graders = {exercise["grader"] for exercise in exercises}
    return replace(
        new,
        exercises=exercises,
        score=sum(exercise["points"] for exercise in exercises),
        grader=graders.copy().pop() if len(graders) == 1 else None,
        key=results.key_of(new.submission, graders, new.seed, new.variant),
    )


class Screen:
    """Standard error for a progress bar.  A terminal that has gone stops no run."""

    def write(self, text: str) -> None:
        """Write as far as somebody reads."""
        with contextlib.suppress(OSError, ValueError, AttributeError):  # None, where there is no such stream
            sys.stderr.write(text)

    def flush(self) -> None:
        """The same for what waits to be written."""
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.flush()


def progress_bar(total: int) -> tqdm:
    """Graded, faults, time left: on a terminal one line that changes, elsewhere one now and then."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    form = "{n} of {total} graded{postfix} · about {remaining} left"
    pause = 0.1 if is_terminal else PAUSE
    return tqdm(total=total, file=Screen(), bar_format=form, mininterval=pause, disable=not total)
