"""A whole notebook: which lesson it is, one verdict an exercise, and the report of all."""

import json
import os
import re
import secrets
import stat
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from nbjudge import variants
from nbjudge.clock import Overtime, limited
from nbjudge.course import current, exercise_names
from nbjudge.exercise import Exercise, NotPassed
from nbjudge.files import write_whole
from nbjudge.finding.notebook import Notebook, written_by_newer_python
from nbjudge.finding.notebook_file import Unusable
from nbjudge.grading.judge import GRADE_AGAIN, find_fault, name_mistake, run_check, verdict
from nbjudge.running import sandbox
from nbjudge.running.learner_answer import LearnerAnswer
from nbjudge.running.sandbox import Sandbox
from nbjudge.running.worker import NotStarted, Worker
from nbjudge.verdict import Status, Stopped, Verdict

SEED_BITS = 53  # the largest integers that every reader of JSON keeps
NEW = re.compile(  # what an older Python says of modules and functions that a newer one has
    r"ModuleNotFoundError|ImportError: cannot import name|AttributeError: (?:partially initialized )?module '"
)
OWN_SECONDS = 120.0  # for the judge's own computing on one exercise, beyond the time that the answer has


@dataclass(frozen=True)
class GradeReport:
    """The verdicts on one notebook, and how they were found."""

    lesson: str
    box: Sandbox
    seed: int
    verdicts: tuple[Verdict, ...]
    numbers: dict[str, dict] = field(default_factory=dict)  # of exercises that the notebook has as variants

    @property
    def score(self) -> int:
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def max_score(self) -> int:
        return sum(verdict.max_points for verdict in self.verdicts)

    @property
    def all_passed(self) -> bool:
        return all(self.verdicts)

    @property
    def own_faults(self) -> list[str]:
        """The exercises that the grader itself could not judge."""
        return [verdict.name for verdict in self.verdicts if verdict.status is Status.grader_error]

    def __str__(self) -> str:
        """The last line of a grade, and before it what the grader could not judge."""
        box = self.box.name
        if self.box.why:
            box += f" ({self.box.why})"
        lines = [f"{self.lesson}: {self.score} of {self.max_score} points · sandbox: {box}"]
        lines[0] += f" · limits held by: {self.box.limits_by} · seed: {self.seed}"
        for name, numbers in self.numbers.items():
            lines.insert(0, f"{name}: the variant {variants.describe_numbers(numbers)} of this notebook.")
        if self.own_faults:
            lines.insert(
                0, f"⚠ Not judged, by a fault of the grader: {', '.join(self.own_faults)}. See above."
            )
        return "\n".join(lines)

    def to_json(self) -> str:
        """The report as a program reads it."""
        rows = [verdict_entry(verdict) for verdict in self.verdicts]
        report = {
            "lesson": self.lesson,
            "score": self.score,
            "max_score": self.max_score,
            "sandbox": self.box.name,
            "limits_by": self.box.limits_by,
            "seed": self.seed,
            "exercises": rows,
        }
        if self.numbers:
            report["variants"] = self.numbers
        return json.dumps(report, indent=1, ensure_ascii=False) + "\n"

    def save(self, path: Path) -> None:
        """Write the JSON; a reader sees the old file or the whole new one, never a part."""
        refuse_to_replace(path)
        try:
            write_whole(path, self.to_json().encode())
        except OSError as error:
            raise Unusable(f"the report could not be written to {path}: {error.strerror}") from error


def verdict_entry(verdict: Verdict) -> dict:
    """What the JSON of a report has on one exercise; Verdict(**entry) is the verdict again."""
    fields = (
        "name", "points", "max_points", "status", "message", "misconception", "next_step", "seconds", "looks",
    )  # fmt: skip
    return {field: getattr(verdict, field) for field in fields} | {"seconds": round(verdict.seconds, 3)}


def refuse_to_replace(path: Path, notebook: Path | None = None) -> None:
    """Unusable where a report must not go: onto a device, a pipe, a link, a folder, the notebook; into no
    folder."""
    if why := _why_not_to_replace(path, notebook):
        raise Unusable(f"the report could not be written to {path}: {why}.")


def _why_not_to_replace(path: Path, notebook: Path | None) -> object:
    try:
        if not stat.S_ISDIR(os.stat(path.parent).st_mode) or not os.access(path.parent, os.W_OK):
            return "its folder cannot be written"
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return "it exists, but is not a regular file"
        if notebook and os.path.samefile(path, notebook):
            return "that is the notebook"
    except FileNotFoundError as missing:
        if missing.filename != str(path):
            return "there is no such folder"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or error
    return None


def grade(
    path: Path,
    *,
    seed: int | None = None,
    plain: bool = False,
    only: str | None = None,
    lesson: str | None = None,
    tell: Callable[[Verdict], None] = lambda verdict: None,
    vary: Callable[[Exercise, Notebook], tuple[Exercise, dict]] | None = None,
    box: Sandbox | None = None,
) -> GradeReport:
    """The report on a notebook; `tell` is called with each verdict as soon as it is known.

    vary: (the exercise with its numbers, these numbers), or raises Stopped; None: those that the notebook
    names.  box: the sandbox; None: by `plain`.
    """
    notebook, lesson = _read(path, lesson)
    _refuse_the_lesson_itself(path, lesson, notebook.names)
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    box = box or sandbox.choose(plain)
    verdicts = []
    numbers = {}
    vary = vary or as_variant
    for exercise in _chosen(lesson, only):
        try:
            exercise, numbers[exercise.name] = vary(exercise, notebook)
            outcome = grade_one(exercise, notebook, seed, box)
        except Stopped as stopped:
            outcome = verdict(exercise, stopped)
        except Overtime as overtime:  # a notebook may be written so that finding its numbers takes hours
            outcome = verdict(exercise, _fault(overtime))
        verdicts.append(outcome)
        tell(outcome)
    named = {name: known for name, known in numbers.items() if known}
    return GradeReport(lesson, box, seed, tuple(verdicts), named)


def _read(path: Path, lesson: str | None) -> tuple[Notebook, str]:
    """The notebook and its lesson. Raises Unusable, also where to find out what it defines takes too long."""
    try:
        with limited(OWN_SECONDS):
            notebook = Notebook.read(path)
            return notebook, lesson_of(path, notebook.names, lesson)
    except Overtime:
        raise Unusable(
            f"what {path} defines could not be found out in {OWN_SECONDS:.0f} s: "
            "it holds too much program text"
        ) from None


def _refuse_the_lesson_itself(path: Path, lesson: str, names: set[str]) -> None:
    """Unusable for the notebook that a learner reads, beside which lies the one to be filled in.

    Some lessons define one of the exercises' functions themselves, to show a mistake.
    """
    course = path.parent.parent
    name = f"{current().lessons[lesson]}.ipynb"
    is_lesson = path.parent.name == "notebooks" and (course / "exercises" / name).exists()
    exercises = {*current().catalogue(lesson)}
    if is_lesson and 2 * len(exercises & names) < len(exercises):
        raise Unusable(f"{path} is the lesson and holds no answers; yours are in {course / 'work' / name}.")


def as_variant(exercise: Exercise, notebook: Notebook) -> tuple[Exercise, dict]:
    """The exercise with the numbers that the notebook's own `check` names, as a learner's `check` takes them.

    A class is graded otherwise: its numbers are drawn from the class key.
    """
    with limited(OWN_SECONDS):
        numbers = notebook.numbers(exercise.name)
    try:
        return variants.at_numbers(exercise, numbers), numbers
    except ValueError:  # an unknown variant: the course's own exercise
        return exercise, {}


def grade_one(exercise: Exercise, notebook: Notebook, seed: int, box: Sandbox) -> Verdict:
    """The verdict on one exercise, whatever the notebook holds."""
    answers = []
    unanswered = _verdict(exercise, lambda: answers.append(_answer(exercise, notebook)))
    return judge_apart(exercise, answers[0], seed, box) if answers else unanswered


def _answer(exercise: Exercise, notebook: Notebook) -> LearnerAnswer:
    with limited(OWN_SECONDS):  # a notebook may be written so that choosing its statements takes hours
        return notebook.answer(exercise.name, exercise.is_kernel)


def judge_apart(exercise: Exercise, answer: LearnerAnswer, seed: int, box: Sandbox) -> Verdict:
    """The verdict on an answer that runs in its own process, with the lines that did not run there."""
    lines = []
    outcome = _verdict(exercise, lambda: _problem(exercise, answer, seed, box, lines))
    misses = any(word in outcome.message for word in ("NameError", "NotFoundError"))
    if answer.newer and outcome.status is Status.crashed and (answer.unread or NEW.match(outcome.message)):
        reason = "\n".join(answer.unread) or outcome.message
        return verdict(exercise, written_by_newer_python(answer.newer, exercise.name, reason))
    lines += answer.magics if misses else ()
    lines += (error.replace("\n", " ") for error in answer.unread)
    outcome = _with_reasons(outcome, lines, answer.repeated)
    return replace(outcome, looks=answer.lines_that_look())


def _with_reasons(outcome: Verdict, lines: list[str], repeated: Sequence[str]) -> Verdict:
    """The verdict, which names what did not run or is defined twice, where that may be the reason."""
    reasons = [f"left out: {line}" for line in lines if line.partition(" (")[0] not in outcome.message]
    if repeated and outcome.status in (Status.failed, Status.crashed):
        reasons.insert(0, f"defined more than once, the last counts: {', '.join(repeated)}")
    if outcome.status in (Status.passed, Status.not_attempted, Status.grader_error):
        reasons.clear()
    return replace(outcome, message="\n".join([outcome.message, *reasons]))


def _verdict(exercise: Exercise, find_problem: Callable[[], NotPassed | None]) -> Verdict:
    """The verdict on what is found. A judge that fails costs no other exercise its verdict."""
    start = time.perf_counter()
    try:
        problem = find_problem()
    except Stopped as stopped:
        problem = stopped
    except (Exception, Overtime) as error:
        problem = _fault(error)
    return verdict(exercise, problem, time.perf_counter() - start)


def _fault(error: BaseException) -> Stopped:
    """What the judge's own failure means for the learner."""
    if os.environ.get(f"{current().settings_prefix}DEBUG"):
        traceback.print_exception(error, file=sys.stderr)
    sentence = f"The judge failed ({type(error).__name__}: {error}): not graded."
    return Stopped(Status.grader_error, sentence, GRADE_AGAIN)


def _problem(
    exercise: Exercise, answer: LearnerAnswer, seed: int, box: Sandbox, lines: list[str]
) -> NotPassed | None:
    """What is wrong with an answer, None where nothing is; a process that does not start is tried again.

    Statements that failed while the answer was loaded are added to `lines`.
    """
    try:
        problem = _run_apart(exercise, answer, seed, box, lines)
    except NotStarted:
        problem = _run_apart(exercise, answer, seed, box, lines)
    if problem is None:
        return None
    with limited(OWN_SECONDS):  # after the answer's processes have ended: they cannot disturb this
        if not isinstance(problem, NotPassed):
            return find_fault(exercise, problem, seed)
        name_mistake(exercise, problem, seed)
    return problem


def _run_apart(
    exercise: Exercise, answer: LearnerAnswer, seed: int, box: Sandbox, lines: list[str]
) -> BaseException | None:
    """What a check finds in an answer that runs in its own process."""
    limit = (1 + box.patience) * exercise.seconds + OWN_SECONDS
    del lines[:]
    with limited(limit):
        runs = answer
        if exercise.is_kernel:
            runs = current().select(answer, exercise.seconds, box, lines)
    with Worker(runs, exercise.seconds, box) as worker, limited(limit):
        lines += worker.left_out
        return run_check(exercise, worker, seed)


def lessons_in(names: set[str], lessons: Iterable[str]) -> list[str]:
    """Those of some lessons of which a notebook with these names defines an exercise."""
    return [lesson for lesson in lessons if names.intersection(current().catalogue(lesson))]


def lesson_of(path: Path, names: set[str], insisted: str | None = None) -> str:
    """The lesson that a notebook belongs to: by its file's name if that says one, else by the functions in
    it."""
    course = current()
    holds = {}
    for lesson in course.lessons:
        holds[lesson] = [name for name in course.catalogue(lesson) if name in names]
    likely = max(holds, key=lambda lesson: len(holds[lesson]))
    in_name = (lesson for lesson in holds if re.search(rf"(?<![a-z]){lesson}(?![a-z])", path.stem))
    named = insisted or next(in_name, None)
    if named and (holds[named] or not holds[likely]):
        return named
    if named:
        defined = ", ".join(holds[likely])
        raise Unusable(
            f"{path} should be of lesson {named} but holds none of its exercises. It seems to be of "
            f"{likely}: it defines {defined}. Grade that file, or call it {course.lessons[likely]}.ipynb."
        )
    if holds[likely]:
        return likely
    near = []
    for name in sorted(names):
        if close := _near(name):
            near.append(f"{name} (for {close[0]}?)")
        if len(near) == 3:  # as many as the sentence names
            break
    hint = f" It defines {', '.join(near)}." if near else ""
    lessons = ", ".join(course.lessons)
    raise Unusable(f"{path} defines no exercise of this course.{hint} The lessons are {lessons}.")


def _near(name: str) -> list[str]:
    return get_close_matches(name, exercise_names(), 1, 0.75)


def _chosen(lesson: str, only: str | None) -> list[Exercise]:
    known = current().catalogue(lesson)
    if only and only not in known:
        raise Unusable(f"Lesson {lesson} has no exercise {only!r}; it has {', '.join(known)}.")
    return [exercise for exercise in current().exercises(lesson) if only in (None, exercise.name)]
