"""Grade again what was graded before, into another folder, and compare before a mark is written.

The new results lie in regraded/ of the class folder until --write takes them over; a regrade that was killed
continues where it was.
"""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nbjudge.classroom import results, run
from nbjudge.classroom.results import Result
from nbjudge.finding.notebook_file import Unusable
from nbjudge.verdict import Verdict

PENDING = "regraded"


@dataclass(frozen=True)
class Selection:
    """Which results are graded again; nothing stated: all."""

    student: str | None = None
    lesson: str | None = None
    faults: bool = False  # only those with a fault of the grader

    def takes(self, result: Result) -> bool:
        """Is this one of them?"""
        return (
            (self.student is None or unicodedata.normalize("NFC", self.student) == result.student)
            and self.lesson in (None, result.lesson)
            and (not self.faults or bool(result.faults))
        )


def regrade(folder: Path, mapped: Callable, selection: Selection, plain: bool = False) -> list[tuple]:
    """[(old result, new result), ...] of the selection, graded again; no mark of the class is changed.

    Raises Unusable where the selection is empty, or the class key is not the one that it was graded with.
    """
    run.refuse_without_sandbox(plain)
    chosen = {result.place: result for result in results.load(folder) if selection.takes(result)}
    if not chosen:
        stated = ", ".join(f"{name} {value!r}" for name, value in vars(selection).items() if value)
        raise Unusable(
            f"{folder} has no result{stated and f' with {stated}'}: nothing to grade again. A student is "
            "named by the identifier that class.html shows, and must have been graded."
        )
    jobs = [job for job in run.jobs_of(folder, plain, PENDING) if job.place in chosen]
    run.refuse_other_key(folder, jobs, chosen)
    done = {result.place: result for result in results.load(folder, PENDING)}
    run.grade_all([job for job in jobs if not _is_done(job, done.get(job.place))], mapped)
    new = {result.place: result for result in results.load(folder, PENDING)}
    return [(chosen[job.place], new[job.place]) for job in jobs]


def _is_done(job: run.Job, result: Result | None) -> bool:
    """Was it regraded before, by the code that would do it now, and without a fault?"""
    return result is not None and (result.seed, result.grader, result.faults) == (job.seed, job.grader, [])


def take_over(folder: Path, pairs: list[tuple]) -> None:
    """Write the new results in the old ones' places."""
    for _, new in pairs:
        results.write(results.path_of(folder / "results", *new.place), new)
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
    return ((*old.place, name) for old, new in pairs for name, _, _ in _changed_verdicts(old, new))


def _changed_verdicts(old: Result, new: Result) -> Iterator[tuple[str, Verdict | None, Verdict | None]]:
    """(exercise, old verdict, new one) of those with other points, status or mistake; None: none there."""
    before, after = ({verdict.name: verdict for verdict in result.verdicts} for result in (old, new))
    for name in before | after:
        if _outcome(before.get(name)) != _outcome(after.get(name)):
            yield name, before.get(name), after.get(name)


def _changes(old: Result, new: Result) -> Iterator[str]:
    """One line for each exercise whose verdict is another one."""
    if old.problem != new.problem:
        yield f"{old.student}, {old.lesson}: {old.problem or 'graded'} → {new.problem or 'graded'}"
    for name, before, after in _changed_verdicts(old, new):
        yield f"{old.student}, {name}: {_describe(before)} → {_describe(after)}"


def _outcome(verdict: Verdict | None) -> tuple | None:
    return verdict and (verdict.status, verdict.points, verdict.misconception)


def _describe(verdict: Verdict | None) -> str:
    if verdict is None:
        return "not there"
    named = f" ({verdict.misconception})" if verdict.misconception else ""
    return f"{verdict.status.replace('_', ' ')}{named} {verdict.points}"
