"""Grade a class: `grade --json` for each file that has no result yet.

A run may be killed at any moment: each result is a file of its own, written by the process that has graded.
The next run with --resume grades the rest, with the same seeds, and ends with the same results.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from threadpoolctl import threadpool_limits
from tqdm import tqdm

from nbjudge import variants
from nbjudge.classroom import keys, processes, results, submissions
from nbjudge.classroom.results import Result
from nbjudge.clock import limited
from nbjudge.course import current
from nbjudge.exercise import Exercise
from nbjudge.finding.notebook import Notebook
from nbjudge.finding.notebook_file import Unusable
from nbjudge.grading.clean_start import clean_start
from nbjudge.grading.grade import OWN_SECONDS, GradeReport, grade
from nbjudge.running import sandbox
from nbjudge.running.sandbox import CHECKOUT
from nbjudge.verdict import Status, Verdict

DIGITS = 16
Tell = Callable[[str], None]
TRIES = 2  # at a notebook with an exercise that the grader could not judge, or while it was stopped
PAUSE = 30.0  # seconds between two lines of progress where nobody watches a terminal
LOST = "The process that graded it ended twice: not graded."
BY_HAND = "read this answer yourself: in plain mode an answer can end its judge"


class Job(NamedTuple):
    """A file to grade. It holds what is drawn from the class key, and not the key."""

    student: str
    lesson: str
    submission: str  # digest of the notebook
    path: str  # of the notebook
    into: str  # the file of the result
    seed: int
    token: str | None  # from which the student's numbers are drawn; None: no variants were handed out
    grader: str  # digest of the code that is to decide
    plain: bool

    @property
    def place(self) -> tuple[str, str]:
        """Student and lesson."""
        return self.student, self.lesson


def jobs_of(folder: Path, plain: bool = False, below: str = "results") -> list[Job]:
    """A job for each submission that counts, lesson by lesson, with its result below a folder of the class.

    Raises Unusable where no submission counts.
    """
    counting = submissions.graded(submissions.load(folder))
    if not counting:
        raise Unusable(
            f"{folder} has no submission to grade; its submissions.jsonl gives each file's reason."
        )
    key = keys.class_key(folder)
    varied = keys.varied(folder)
    counting.sort(key=lambda entry: entry.lesson)  # a process keeps what it has computed for a lesson
    jobs = []
    for entry in counting:
        student, lesson = entry.place
        path = str(folder.absolute() / entry.file)
        into = str(results.path_of(folder.absolute() / below, student, lesson))
        seed = keys.seed(key, lesson, student, entry.sha256)
        token = None
        if lesson in varied:
            token = keys.token(key, "variant", lesson, student)
        jobs.append(Job(student, lesson, entry.sha256, path, into, seed, token, grader_digest(), plain))
    return jobs


def grade_apart(job: Job) -> Result:
    """What grade_file returns, from a process of this thread: a file that ends it costs its student alone."""
    try:
        return processes.apart(grade_file, job)
    except processes.Lost:
        return lost(job)


def grade_file(job: Job) -> Result:
    """Grade a file as `grade --json` does, and write the result. Raises Unusable where the file is
    another one, this machine has other code or no sandbox, or the disk refuses."""
    refuse_changed(job)
    refuse_without_sandbox(job.plain)
    if grader_digest() != job.grader:
        raise Unusable(
            f"the code of the course on {os.uname().nodename} is another one than where the run was "
            "planned: bring both to one version, then continue with --resume."
        )
    with clean_start(), threadpool_limits(1):  # other files are graded on the other cores
        result = _graded(job)
    results.write(Path(job.into), result)
    return result


def _graded(job: Job) -> Result:
    doubts = {}
    numbers = partial(_numbers_of_student, job.token, doubts)
    for _ in range(TRIES):
        stops = len(processes.stops)
        try:
            report = grade(Path(job.path), seed=job.seed, plain=job.plain, lesson=job.lesson, vary=numbers)
        except Unusable as unusable:
            problem = str(unusable).replace(job.path, f"{current().lessons[job.lesson]}.ipynb")
            return _without_report(job, problem=problem)
        if not report.own_faults and len(processes.stops) == stops:
            break
    fields = json.loads(report.to_json())
    for entry in fields["exercises"]:
        if entry["status"] == Status.failed and entry["name"] in doubts:
            entry["message"] += doubts[entry["name"]]
    return _result(job, **fields)


def _numbers_of_student(
    token: str | None, doubts: dict[str, str], exercise: Exercise, notebook: Notebook
) -> tuple[Exercise, dict]:
    """The exercise with the numbers of the student, whatever the notebook says. A notebook that has the
    numbers of another one joins the doubts."""
    if token is None:
        return exercise, {}
    drawn, numbers = variants.draw_variant(exercise, token)
    if numbers is None:
        return exercise, {}
    with limited(OWN_SECONDS):
        named = notebook.numbers(exercise.name)
    if named != numbers:
        own = variants.describe_numbers(numbers)
        other = variants.describe_numbers(named)
        doubts[exercise.name] = (
            f"\nThe notebook for this student has {own}, and this one has {other}: is it another notebook?"
        )
    return drawn, numbers


def _result(job: Job, **fields) -> Result:
    exercises = tuple(fields.pop("exercises"))
    fields.pop("lesson", None)
    return Result(job.student, job.lesson, job.submission, job.grader, exercises=exercises, **fields)


def _without_report(job: Job, verdicts: tuple[Verdict, ...] = (), problem: str | None = None) -> Result:
    report = GradeReport(job.lesson, sandbox.choose(job.plain), job.seed, verdicts)
    most = sum(current().catalogue(job.lesson).values())
    return _result(job, **json.loads(report.to_json()) | {"max_score": most, "problem": problem})


def lost(job: Job) -> Result:
    """The result, written, of a file that has ended each process that graded it: faults, not lost points."""
    points = current().catalogue(job.lesson).items()
    faults = (Verdict(name, Status.grader_error, 0, most, LOST, None, BY_HAND) for name, most in points)
    result = _without_report(job, tuple(faults))
    results.write(Path(job.into), result)
    return result


def refuse_changed(job: Job) -> None:
    """Unusable unless the notebook of a job is what was collected: nobody loses marks to that."""
    try:
        digest = hashlib.sha256(Path(job.path).read_bytes()).hexdigest()
    except FileNotFoundError:
        digest = None
    if digest != job.submission:
        how = "is another one than was collected: remove it" if digest else "is missing"
        raise Unusable(
            f"files/{job.submission}.ipynb, the notebook of {job.student} for {job.lesson}, {how}. "
            "Bring it back from a copy, or collect the download again; then repeat the command."
        )


def refuse_without_sandbox(plain: bool) -> None:
    """Unusable where the answers of a class would run without bubblewrap and nobody has accepted that."""
    if not plain and (why := sandbox.choose().why):
        raise Unusable(
            f"answers would run in plain mode, because {why}. Strangers' code could then read this class: "
            "install bubblewrap, or accept that with --plain."
        )


def grade_class(
    folder: Path, mapped: Callable, tell: Tell, *, resume: bool = False, plain: bool = False
) -> list[Result]:
    """Grade what is missing of a class; all results at the end.

    mapped: `map`, or one that works like it and keeps more than one core busy (processes.py).

    Raises Unusable where the class has results and `resume` is not set, where answers would not run in the
    sandbox, or where the disk refuses a result; all earlier ones are kept. Raises what refuse_other_key does.
    """
    refuse_without_sandbox(plain)
    jobs = jobs_of(folder, plain)
    known = results.by_place(folder)
    graded = [job for job in jobs if job.place in known]
    missing = [job for job in jobs if job.place not in known]
    refuse_other_key(folder, graded, known)
    if graded and not resume:
        raise Unusable(
            f"{len(graded)} of {len(jobs)} submissions are graded: --resume grades the rest, "
            f"{current().command} class regrade shows what another run would change."
        )
    if keys.is_exposed(folder):
        tell(f"other accounts of this machine can read {folder / 'class.json'}: chmod 600 keeps it yours")
    if graded:
        tell(f"{len(graded)} are graded already")
    if outdated := sum(known[job.place].grader != job.grader for job in graded):
        tell(
            f"{outdated} of them by another version of the checks; they stay as they are: "
            f"{current().command} class regrade shows what would change"
        )
    tell(f"{len(missing)} to grade")
    grade_all(missing, mapped)
    return results.load(folder)


def refuse_other_key(folder: Path, jobs: list[Job], known: dict[tuple[str, str], Result]) -> None:
    """Raise Unusable where results were drawn from another class key than these jobs are."""
    if changed := sum(known[job.place].seed != job.seed for job in jobs):
        raise Unusable(
            f"{changed} results are of another class key than that of {folder / 'class.json'}: bring the key "
            f"back from a copy, or remove them from {folder / 'results'}; seeds and variants then differ."
        )


def grade_all(jobs: list[Job], mapped: Callable) -> None:
    """Grade the jobs, and say how far it is. Raises Unusable where a notebook is missing or another one."""
    for job in jobs:
        refuse_changed(job)
    pause = 0.1 if sys.stderr is not None and sys.stderr.isatty() else PAUSE
    form = "{n} of {total} graded{postfix} · about {remaining} left"
    faults = 0
    with tqdm(total=len(jobs), bar_format=form, mininterval=pause, disable=not jobs) as bar:
        try:
            for result in mapped(grade_apart, jobs):
                faults += bool(result.faults)
                if faults:
                    bar.set_postfix_str(f"{faults} with a fault of the grader", refresh=False)
                bar.update()
        except KeyboardInterrupt:
            bar.write("stopped: what was graded is kept, and --resume grades the rest", file=bar.fp)
            raise


def describe(listed: list[Result]) -> Iterator[str]:
    """The end of a run in words: points, what could not be graded, and the grader's own faults apart."""
    graded = [result for result in listed if result.problem is None]
    for lesson in sorted({result.lesson for result in graded}):
        own = [result for result in graded if result.lesson == lesson]
        scores = [result.score for result in own if not result.open]
        best = max(result.max_score for result in own)
        middle = f", median {median(scores):g} of {best} points" if scores else ""
        yield f"{lesson}: {len(own)} graded{middle}"
    for result in listed:
        if result.problem:
            yield f"✘ {result.student}, {result.lesson}: {result.problem}"
        for verdict in result.verdicts:
            if verdict.name in result.faults:
                yield f"⚠ not judged: {result.student}, {verdict.name}: {verdict.message}"


def without_faults(listed: list[Result]) -> bool:
    """Was everything judged?"""
    return not any(result.faults for result in listed)


@cache
def grader_digest() -> str:
    """The digest of all code and packed answers of the course's packages, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    files = (path for name in current().packages for path in (CHECKOUT / name).rglob("*"))
    for path in sorted(path for path in files if path.suffix in (".py", ".answers", ".toml")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(CHECKOUT).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:DIGITS]
