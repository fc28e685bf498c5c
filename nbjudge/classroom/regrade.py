"""Grade again what was graded before, into another folder, and compare before a mark is written.

The new results lie in regraded/ of the class folder until --write takes them over; a regrade that was killed
continues where it was.
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nbjudge.classroom import results, run
from nbjudge.classroom.report_summary import Mark
from nbjudge.classroom.results import Result
from nbjudge.finding.notebook_file import Unusable
from nbjudge.verdict import Status, Verdict

PENDING = "regraded"


@dataclass(frozen=True)
class Selection:
    """Which results are graded again; nothing stated: all."""

    student: str | None = None
    lesson: str | None = None
    faults: bool = False  # only those with a fault of the grader

    def takes(self, result: Result) -> bool:
        """Is this one of them?"""
        if self.student is not None:
            student = unicodedata.normalize("NFC", self.student)
            if student != result.student:
                return False
        if self.lesson not in (None, result.lesson):
            return False
        return not self.faults or bool(result.faults)


def regrade(folder: Path, mapped: Callable, selection: Selection, plain: bool = False) -> list[tuple]:
    """[(old result, new result), ...] of the selection, graded again; no mark of the class is changed.

    Raises Unusable where the selection is empty, or the class key is not the one that it was graded with.
    """
    run.refuse_without_sandbox(plain)
    chosen = {result.place: result for result in results.load(folder) if selection.takes(result)}
    if not chosen:
        settings = [f"{name} {value!r}" for name, value in vars(selection).items() if value]
        stated = f" with {', '.join(settings)}" if settings else ""
        raise Unusable(
            f"{folder} has no result{stated}: nothing to grade again. A student is "
            "named by the identifier that class.html shows, and must have been graded."
        )
    jobs = [job for job in run.jobs_of(folder, plain, PENDING) if job.place in chosen]
    run.refuse_other_key(folder, jobs, chosen)
    done = results.by_place(folder, PENDING)
    pending = [job for job in jobs if not _is_done(job, done.get(job.place))]
    run.grade_all(pending, mapped)
    new = results.by_place(folder, PENDING)
    return [(chosen[job.place], new[job.place]) for job in jobs]


def _is_done(job: run.Job, result: Result | None) -> bool:
    """Was it regraded before, by the code that would do it now, and could it be judged?"""
    is_judged = result is not None and not result.problem and not result.faults
    return is_judged and (result.seed, result.grader) == (job.seed, job.grader)


def take_over(folder: Path, pairs: list[tuple]) -> None:
    """Write the new results in the old ones' places, but for those in which less was judged."""
    for old, new in pairs:
        if not _new_faults(old, new):
            path = results.path_of(folder / "results", *new.place)
            pending = results.path_of(folder / PENDING, *new.place)
            results.write(path, new)
            pending.unlink(missing_ok=True)


def describe(pairs: list[tuple], marks: Mapping[tuple, Mapping[str, Mark]]) -> Iterator[str]:
    """What changes for the students, a line for each exercise, and how many points in all.

    marks: the teacher's, by student and lesson, then by exercise; below these no verdict changes anything.
    """
    changed = set()
    difference = 0
    for old, new in pairs:
        if faults := _new_faults(old, new):
            why = new.problem or f"{', '.join(faults)} could not be judged now"
            yield f"{old.student}, {old.lesson}: the earlier result stays: {why}"
            continue
        if bool(old.problem) != bool(new.problem):
            changed.add(old.place)
            old_state = old.problem or "graded"
            new_state = new.problem or "graded"
            yield f"{old.student}, {old.lesson}: {old_state} → {new_state}"
        for before, after in _changed_verdicts(old, new):
            change = f"{before.status.word} {before.points} → {after.status.word} {after.points}"
            line = f"{old.student}, {before.name}: {change}"
            mark = marks.get(old.place, {}).get(before.name)
            if mark is not None and mark.points is not None:
                yield f"{line}; the mark by hand, {mark.points:g} of {mark.max_points:g}, stays"
            else:
                changed.add(old.place)
                difference += after.points - before.points
                yield line
    yield f"{len(pairs)} graded again, {len(changed)} change, {difference:+d} points in all"


def _new_faults(old: Result, new: Result) -> list[str]:
    """Exercises that the grader judged before and could not judge now, alone or with the whole notebook."""
    before = [verdict.name for verdict in old.verdicts if verdict.name not in old.open]
    return [name for name in before if new.problem or name in new.open]


def _changed_verdicts(old: Result, new: Result) -> Iterator[tuple[Verdict, Verdict]]:
    """(old verdict, new one) on each exercise with other points or another status; an exercise that one of
    the results lacks was not attempted there."""
    old_verdicts = {verdict.name: verdict for verdict in old.verdicts}
    new_verdicts = {verdict.name: verdict for verdict in new.verdicts}
    for name in old_verdicts | new_verdicts:
        not_attempted = Verdict(name, Status.not_attempted, 0, 0)
        before = old_verdicts.get(name, not_attempted)
        after = new_verdicts.get(name, not_attempted)
        if (before.status, before.points) != (after.status, after.points):
            yield before, after
