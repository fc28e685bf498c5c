"""A class folder as reports and exports read it: graded papers, and what has no grade with the reason."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nbjudge.classroom import by_hand, results, submissions
from nbjudge.classroom.report_summary import Paper
from nbjudge.course import current
from nbjudge.finding.notebook_file import Unusable
from nbjudge.printable import printable

LONGEST = 400  # characters of the reasons why a student has no mark


class Withheld(NamedTuple):
    """One file or student without a grade, and why."""

    student: str  # empty where nobody could be matched
    name: str
    file: str
    reason: str


def papers_of(folder: Path, lesson: str | None = None, or_none: bool = False) -> list[Paper]:
    """The graded papers of a class, of one lesson where one is named.

    Raises Unusable where there is none, unless `or_none`: an empty table or page would look like a result.
    """
    entries = submissions.load(folder)
    collected = {entry.place: entry for entry in submissions.graded(entries)}
    read = (result for result in results.load(folder) if result.problem is None)
    judged = [_paper(folder, result, collected[result.place]) for result in read]
    papers = [
        paper
        for paper in by_hand.applied(by_hand.read(folder, entries), judged, entries)
        if lesson in (None, paper.lesson)
    ]
    if papers or or_none:
        return papers
    if (broken := broken_papers(folder)) and not lesson:
        raise Unusable(
            f"{folder}: none of the {len(broken)} notebooks that count could be graded; "
            f"{current().command} class report {folder} gives the reasons."
        )
    chosen = f" of {lesson}" if lesson else ""
    raise Unusable(
        f"{folder} holds no graded submission{chosen}: run {current().command} class grade {folder} first."
    )


def broken_papers(folder: Path) -> list[Paper]:
    """The papers that count, could not be graded, and were not marked by hand: with the reason."""
    collected = {entry.place: entry for entry in submissions.graded(submissions.load(folder))}
    marked = _marked(folder)
    broken = (r for r in results.load(folder) if r.problem is not None and r.place not in marked)
    return [_paper(folder, result, collected[result.place]) for result in broken]


def _marked(folder: Path) -> set[tuple[str, str]]:
    """{(student, lesson), ...} of all who have a paper: graded, or marked by hand."""
    return {(paper.student, paper.lesson) for paper in papers_of(folder, or_none=True)}


def _paper(folder: Path, result: results.Result, entry: submissions.Submission) -> Paper:
    return Paper(
        result.student,
        printable(entry.name or ""),
        result.lesson,
        result.verdicts,
        file=str(folder / entry.file) if entry.file else "",
        sandbox=result.sandbox,
        limits_by=result.limits_by,
        seed=result.seed,
        numbers=result.variants,
        note=printable((entry.reason or "").removeprefix("note: ")),
        problem=printable(result.problem or ""),
    )


def withheld_of(folder: Path) -> list[Withheld]:
    """Files that do not count, submissions that could not be graded, and those that are not graded yet."""
    entries = submissions.load(folder)
    graded = {result.place: result for result in results.load(folder)}
    return [
        Withheld(entry.student or "", printable(entry.name or ""), printable(entry.source), printable(reason))
        for entry in submissions.without_repeats(entries)
        if (reason := _reason(entry, graded.get(entry.place)))
    ]


def unmarked(folder: Path, lesson: str | None = None) -> dict[str, str]:
    """{student: why} for all who handed something in and have no mark, of a lesson where one is named.

    Empty for those whose notebooks count, all in other lessons: a class folder may hold a whole course.
    """
    known = {result.place: result for result in results.load(folder)}
    marked = _marked(folder)
    reasons: dict[str, list[str]] = defaultdict(list)
    for entry in submissions.load(folder):
        of_other = lesson is not None and entry.lesson not in (None, lesson)
        named = lesson or entry.lesson
        wanted = [named] if named else current().lessons
        if entry.student and not any((entry.student, name) in marked for name in wanted):
            why = f"it is of {entry.lesson}" if of_other else _reason(entry, known.get(entry.place))
            file = entry.source.rpartition(": ")[2].rpartition("/")[2]
            reasons[entry.student] += [] if of_other and entry.graded else [f"{file}: {why}"]
    return {printable(student): printable("; ".join(why), LONGEST) for student, why in reasons.items()}


def open_matters(folder: Path, lesson: str | None = None) -> list[str]:
    """Sentences on what the teacher's own tables leave open."""
    return [*by_hand.open_matters(papers_of(folder, lesson, or_none=True))]


def _reason(entry: submissions.Submission, result: results.Result | None) -> str:
    """Why an entry of the submissions list has no verdicts; empty where it has."""
    if not entry.graded:
        return entry.reason or "it does not count"
    if result is None:
        return f"not graded yet: run {current().command} class grade with --resume"
    return result.problem or ""


def sandboxes(papers: Sequence[Paper]) -> str:
    """The sentence that says where the answers ran."""
    kinds = sorted({paper.sandbox for paper in papers} - {""})
    if not kinds:
        return ""
    weaker = (
        " Plain mode limits resources alone; docs/attacks.md says what it withstands."
        if "plain" in kinds
        else ""
    )
    holders = sorted({paper.limits_by for paper in papers} - {""})
    limits = f" Their memory and processes were limited by {' and '.join(holders)}." if holders else ""
    return f"Answers ran in the sandbox {' and '.join(kinds)}.{limits}{weaker}"
