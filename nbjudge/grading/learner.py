"""What a learner calls in a notebook: check an answer, open a hint, use what is there, look at what is
done."""

import html
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from nbjudge import progress_file
from nbjudge.comparing.judging import Transcript
from nbjudge.course import current, exercise_names
from nbjudge.exercise import Exercise
from nbjudge.grading.costs import Costs, compare_costs
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from nbjudge.grading.judge import verdict as outcome_of
from nbjudge.grading.output import limited_output
from nbjudge.grading.own_answer import OwnAnswer, offer, solved_notebook
from nbjudge.progress_file import ProgressEntry
from nbjudge.verdict import Status, Stopped, Verdict

_passed: dict[str, OwnAnswer] = {}  # in this kernel: what goes with the function that passed its last check
_calls: dict[str, object] = {}  # in this kernel: a call of the last check, for `replay`
_numbers: dict[str, dict] = {}  # of variants, as the notebook named them last
_judging: list[str] = []  # the exercise whose check runs at the moment
REPLAYED = Status.passed, Status.failed, Status.crashed, Status.timeout, Status.memory
PATIENCE = 2.0  # seconds until a check that still runs says what it knows
_hints: dict[str, int] = {}  # opened in this kernel, for when the progress file cannot be written


def check(function: Callable, *, practice: bool = False, **numbers: int | str) -> Verdict:
    """The verdict on an answer, on inputs drawn afresh.

    practice: the verdict is shown and not stored, as for a mistake that a lesson makes on purpose.
    numbers: those of a variant, where a teacher has handed one out; hint and use then have them, too.
    """
    lesson, exercise = _exercise(function, "check", numbers)
    transcript = Transcript()
    transcript.tell = _tell_early(exercise.name, transcript)
    verdict, costs = _judged(exercise, function, transcript)
    _passed.pop(exercise.name, None)
    _calls[exercise.name] = transcript.call if verdict.status in REPLAYED else None
    if verdict.passed:
        own = OwnAnswer(exercise, function, _solved(lesson, exercise), costs)
        _passed[exercise.name] = own
        verdict = replace(verdict, below=own)
    elif _calls[exercise.name] is not None:
        step = f"See the launch step by step: {offer('replay', exercise.name)}"
        verdict = replace(verdict, next_step="\n".join(filter(None, (verdict.next_step, step))))
    if not practice:
        progress_file.record(lesson, verdict)
    return verdict


def _judged(exercise: Exercise, function: Callable, transcript: Transcript) -> tuple[Verdict, Costs | None]:
    """The verdict that a grade would give, on the function as it stands in this notebook, and its costs."""
    seed = secrets.randbits(64)
    costs = None
    try:
        if exercise.is_kernel:
            current().refuse_function(function)
        answer = InProcess(function, exercise.name, seconds=exercise.seconds)
        with limited_output():
            _judging.append(exercise.name)
            verdict = judge(exercise, answer, seed, transcript)
        if verdict.passed:
            costs = compare_costs(exercise, function, seed, transcript.costliest)
    except Stopped as stopped:
        verdict = outcome_of(exercise, stopped)
    finally:
        del _judging[:]
    return verdict, costs


def _tell_early(name: str, transcript: Transcript) -> Callable[[], None]:
    """A function for a check to call: it prints the first difference once, if the check takes long."""
    begin = time.monotonic()

    def tell():
        if transcript.first and time.monotonic() - begin > PATIENCE:
            transcript.tell = lambda: None
            print(f"{name} is not right yet, and the check still runs. {transcript.first.message}")

    return tell


def use(function: Callable) -> Callable:
    """The learner's own function if it passed its last check in this kernel, else the course's; says which.

    Within a check it gives back what it gets, as in a grade: an answer is not made of the course's own.
    """
    if _judging:
        return function
    _, exercise = _exercise(function, "use")
    checked = _passed.get(exercise.name)
    if checked is not None and _code(checked.function) == _code(function):
        print(f"{exercise.name}: yours, it passed its check.")
        return function
    print(f"{exercise.name}: the course's own; yours has not passed its check in this session.")
    return exercise.reference


def solution(function: Callable) -> OwnAnswer:
    """The course's own answer beside the learner's, which must have passed its last check in this kernel."""
    _, exercise = _exercise(function, "solution")
    if exercise.name not in _passed:
        raise ValueError(f"solution opens when your own answer has passed: check({exercise.name})")
    return _passed[exercise.name]


def replay(function: Callable) -> object:
    """The call that went wrong in the last check, made once more, step by step."""
    _, exercise = _exercise(function, "replay")
    if _calls.get(exercise.name) is None:
        raise ValueError(f"replay shows a kernel's launch in its last check: check({exercise.name}) first")
    return current().replay(function, _calls[exercise.name])


def _solved(lesson: str, exercise: Exercise) -> Path | None:
    """The notebook with the solution of this exercise; None of a variant's."""
    return None if _numbers.get(exercise.name) else solved_notebook(lesson)


@dataclass(repr=False)
class Hint:
    """One hint, as text, and in a notebook as Markdown: there the page breaks lines between words."""

    exercise: Exercise
    number: int
    solved: Path | None

    def __str__(self) -> str:
        count = len(self.exercise.hints)
        more = f"Run hint({self.exercise.name}) again for the next one."
        if self.number == count:
            place = f" The course's own answer is in {self.solved}." if self.solved else ""
            more = f"This was the last hint.{place}"
        return f"Hint {self.number} of {count}: {self.exercise.hints[self.number - 1]}\n({more})"

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return str(self).replace("\n", "\n\n")


def hint(function: Callable) -> Hint:
    """One hint more each time: where to look, the key idea, nearly the code."""
    return open_hint(*_exercise(function, "hint"))


def open_hint(lesson: str, exercise: Exercise) -> Hint:
    """The next hint to an exercise, which then counts as opened."""
    _hints[exercise.name] = _hints.get(exercise.name, 0) + 1
    opened = progress_file.open_hint(exercise.name, _hints[exercise.name])
    return Hint(exercise, min(opened, len(exercise.hints)), _solved(lesson, exercise))


def progress(lesson: str | None = None) -> "Overview":
    """What is done so far, in one lesson or in the whole course."""
    return Overview(progress_file.entries(), [lesson] if lesson else list(current().lessons))


def _exercise(function, verb: str, numbers: dict | None = None) -> tuple[str, Exercise]:
    """(lesson, exercise) of a learner's function, in the variant that the notebook named last."""
    if isinstance(function, str):
        raise TypeError(f"{verb} takes the function itself: {verb}({function}), without quotes.")
    if not callable(function):
        raise TypeError(
            f"{verb} takes the function, not what it returns: write {verb}(name), no brackets behind name. "
            f"It was given a {type(function).__name__}."
        )
    name = _exercise_name(function) or getattr(function, "__name__", type(function).__name__)
    if name == "<lambda>":
        raise ValueError(
            f"{verb} finds the exercise by the function's name, and a lambda has none: write it with def."
        )
    from nbjudge import variants  # which imports this package

    lesson, exercise = current().find(name)
    exercise = variants.at_numbers(exercise, numbers or _numbers.get(exercise.name, {}))
    if numbers:
        _numbers[exercise.name] = numbers
    return lesson, exercise


def _exercise_name(function: Callable) -> str | None:
    """The exercise whose name a function has in the notebook: a lambda or a partial has none itself."""
    names = [name for name, value in vars(sys.modules["__main__"]).items() if value is function]
    known = exercise_names()  # loads no packages
    return next((name for name in names if name in known), None)


def _code(function: Callable) -> object:
    return getattr(function, "__code__", function)


class ExerciseProgress(NamedTuple):
    """What is known of one exercise."""

    lesson: str
    name: str
    status: Status
    points: int
    possible: int


class Overview:
    """The exercises of some lessons with what is known of each."""

    def __init__(self, entries: Mapping[str, ProgressEntry], lessons: list[str]):
        self.rows = [row for lesson in lessons for row in _rows(lesson, entries)]

    def __str__(self) -> str:
        wide = [max((len(row[k]) for row in self.rows), default=0) + 2 for k in (0, 1)]
        lines = [
            f"{row.status.shown:16}{row.lesson:{wide[0]}}{row.name:{wide[1]}}{row.points} of {row.possible}"
            for row in self.rows
        ]
        return "\n".join([*lines, self.total()])

    __repr__ = __str__

    def total(self) -> str:
        """'2 of 3 exercises passed, 3 of 6 points.'"""
        passed = sum(row.status is Status.passed for row in self.rows)
        earned = sum(row.points for row in self.rows)
        possible = sum(row.possible for row in self.rows)
        return f"{passed} of {len(self.rows)} exercises passed, {earned} of {possible} points."

    def _repr_html_(self) -> str:
        rows = [
            {
                "verdict": row.status.shown,
                "lesson": row.lesson,
                "exercise": row.name,
                "points": f"{row.points} of {row.possible}",
            }
            for row in self.rows
        ]
        titles = ["verdict", "lesson", "exercise", "points"]
        if len({row.lesson for row in self.rows}) == 1:
            titles.remove("lesson")  # one lesson needs no column

        def cells(tag, texts):
            return "".join(f"<{tag} style='text-align:left'>{html.escape(text)}</{tag}>" for text in texts)

        body = "".join(f"<tr>{cells('td', map(row.get, titles))}</tr>" for row in rows)
        head = cells("th", titles)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{self.total()}</p>"


def _rows(lesson: str, entries: Mapping[str, ProgressEntry]) -> Iterator[ExerciseProgress]:
    unknown = ProgressEntry(Status.not_attempted, None, False, 0, 0)
    for name, possible in current().catalogue(lesson).items():
        entry = entries.get(name, unknown)
        status = Status.passed if entry.passed else entry.status
        yield ExerciseProgress(lesson, name, status, min(entry.points, possible), possible)
