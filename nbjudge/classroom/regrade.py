"""Grade again what was graded before, and show what that changes before a mark is written.

The new results lie in regraded/ of the class folder until --write takes them over; a regrade that was killed
goes on where it was.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from nbjudge.classroom import keys, results, run, submissions
from nbjudge.classroom.engines import Engine
from nbjudge.classroom.export_tables import plain_identifier
from nbjudge.classroom.results import Result
from nbjudge.course import current
from nbjudge.finding.notebook_file import Unusable

PENDING = "regraded"


@dataclass(frozen=True)
class Selection:
    """Which results are graded again; nothing stated: all."""

    student: str | None = None
    lesson: str | None = None
    exercise: str | None = None
    faults: bool = False  # only those with a fault of the grader

    def takes(self, result: Result) -> bool:
        """Is this one of them?"""
        return (
            (self.student is None or unicodedata.normalize("NFC", self.student) == result.student)
            and self.lesson in (None, result.lesson)
            and (self.exercise is None or self.exercise in current().catalogue(result.lesson))
            and (not self.faults or bool(result.faults))
        )


def regrade(folder: Path, engine: Engine, selection: Selection, plain: bool = False) -> list[tuple]:
    """[(old result, new result), ...] of the selection, graded again; nothing of the class is changed.

    Raises Unusable where the selection is empty.
    """
    run.refuse_without_sandbox(plain)
    known = {result.place: result for result in results.repair(folder)}
    chosen = [result for result in known.values() if selection.takes(result)]
    if not chosen:
        raise Unusable(f"{_why_none(folder, known.values(), selection)}: nothing to grade again.")
    jobs = _jobs(folder, chosen, selection, plain)
    pending = folder / PENDING
    pending.mkdir(mode=0o700, exist_ok=True)
    missing = [job for job in jobs if not _is_pending(pending, job, selection)]
    run.write_outcomes(folder, missing, engine, PENDING)
    pairs = []
    for job in jobs:
        old = known[job["student"], job["lesson"]]
        new = results.read(results.path_of(pending, *old.place))
        pairs.append((old, _merged(old, new, selection.exercise)))
    return pairs


def _merged(old: Result, new: Result, exercise: str | None) -> Result:
    """The new result; of one exercise, the old result with the new verdict on that one alone.

    An earlier regrade that was not written may have graded all exercises.
    """
    if exercise is None or old.problem or new.problem:
        return new
    fresh = tuple(entry for entry in new.exercises if entry["name"] == exercise)
    others = tuple(entry for entry in old.exercises if entry["name"] != exercise)
    if len(others) == len(old.exercises):  # the checks had no such exercise then
        old = replace(old, exercises=(*others, *fresh))
    return run.merged(old, replace(new, exercises=fresh))


def _why_none(folder: Path, known: Iterable[Result], selection: Selection) -> str:
    """Why no result was selected, in words."""
    lessons = {result.lesson for result in known}
    if selection.lesson not in (None, *lessons):
        return f"no result is of lesson {selection.lesson!r}, but of {', '.join(sorted(lessons)) or 'none'}"
    names = [name for lesson in sorted(lessons) for name in current().catalogue(lesson)]
    if selection.exercise not in (None, *names):
        return f"no result has an exercise {selection.exercise!r}; the exercises are {', '.join(names)}"
    if selection.student not in (None, *(result.student for result in known)):
        return f"no result is of a student {selection.student!r}{_similar(folder, selection.student)}"
    if selection.faults:
        return "no result that was selected has a fault of the grader"
    return f"no result of {folder} is in all that was selected"


def _similar(folder: Path, student: str) -> str:
    """Words on the students that may be meant."""
    wanted = plain_identifier(student)
    listed = submissions.graded(submissions.load(folder))
    if any(entry.student == student for entry in listed):
        return f", who is not graded yet: run rnnlab class grade {folder} --resume"
    words = {
        entry.student: f"{entry.student} ({entry.name})" if entry.name else entry.student for entry in listed
    }
    people = [known for known in words.values() if wanted in plain_identifier(known)]
    such = f", such as {', '.join(people[:5])}" if people else f" of {folder / 'submissions.jsonl'}"
    return f"; --student takes an identifier{such}"


def take_over(folder: Path, pairs: list[tuple]) -> None:
    """Write the new results in the old ones' places."""
    for _, new in pairs:
        results.write(folder / "results", new)
    results.repair(folder)
    for _, new in pairs:
        results.path_of(folder / PENDING, *new.place).unlink(missing_ok=True)


def describe(pairs: list[tuple]) -> Iterator[str]:
    """What the new results change, a line for each exercise, and how many points in all."""
    changed = 0
    for old, new in pairs:
        lines = list(_changes(old, new))
        changed += bool(lines)
        yield from lines
    difference = sum(new.score - old.score for old, new in pairs)
    yield f"{len(pairs)} graded again, {changed} change, {difference:+d} points in all"


def changed_exercises(pairs: list[tuple]) -> Iterator[tuple[str, str, str]]:
    """(student, lesson, exercise) of each verdict that is another one."""
    for old, new in pairs:
        before, after = ({e["name"]: e for e in result.exercises} for result in (old, new))
        for name in before | after:
            if _outcome(before.get(name)) != _outcome(after.get(name)):
                yield *old.place, name


def _changes(old: Result, new: Result) -> Iterator[str]:
    """One line for each exercise whose verdict is another one."""
    if old.problem != new.problem:
        yield f"{old.student}, {old.lesson}: {old.problem or 'graded'} → {new.problem or 'graded'}"
    before, after = ({e["name"]: e for e in result.exercises} for result in (old, new))
    for *_, name in changed_exercises([(old, new)]):
        yield f"{old.student}, {name}: {_words(before.get(name))} → {_words(after.get(name))}"


def _outcome(exercise: dict | None) -> tuple | None:
    return exercise and (exercise["status"], exercise["points"], exercise["misconception"])


def _words(exercise: dict | None) -> str:
    if exercise is None:
        return "not there"
    named = f" ({exercise['misconception']})" if exercise["misconception"] else ""
    return f"{exercise['status'].replace('_', ' ')}{named} {exercise['points']}"


def _jobs(folder: Path, chosen: list[Result], selection: Selection, plain: bool) -> list[dict]:
    key = keys.class_key(folder)
    variants = keys.settings(folder).get("variants") or ()
    entries = {entry.place: entry for entry in submissions.graded(submissions.load(folder))}
    jobs = [run.job_of(folder, entries[result.place], key, variants, plain) for result in chosen]
    names = [selection.exercise] if selection.exercise else None
    return [
        job | {"names": None if result.problem else names} for job, result in zip(jobs, chosen, strict=True)
    ]


def _is_pending(pending: Path, job: dict, selection: Selection) -> bool:
    """Was this regraded before, by the code that would regrade it now, and all that was requested?"""
    path = results.path_of(pending, job["student"], job["lesson"])
    if not path.exists():
        return False
    result = results.read(path)
    names = {exercise["name"] for exercise in result.exercises}
    wanted = set(job["names"] or current().catalogue(job["lesson"]))
    if selection.faults and result.faults:
        return False
    is_whole = bool(result.problem) or wanted <= names
    is_same = (result.submission, result.seed) == (job["submission"], job["seed"])
    return is_whole and is_same and run.is_current(result, job)
