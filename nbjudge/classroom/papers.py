"""A class folder as reports and exports read it: graded papers, and what has no grade with the reason."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from nbjudge.classroom import by_hand, results, submissions
from nbjudge.classroom.report_summary import Paper, Papers
from nbjudge.course import current
from nbjudge.finding.notebook_file import Unusable
from nbjudge.printable import printable
from nbjudge.remedies import command_line

LONGEST = 1200  # characters of the reasons why a student has no mark


def all_papers(folder: Path) -> list[Paper]:
    """A paper for each student and lesson that was graded or marked by hand; a `problem` means no mark."""
    entries = submissions.load(folder)
    collected = {entry.place: entry for entry in submissions.graded(entries)}
    known = results.by_place(folder)
    papers = {place: _paper(folder, result, collected[place]) for place, result in known.items()}
    waiting = collected.keys() - papers.keys()
    marks = by_hand.read(folder, entries)
    return by_hand.applied(marks, papers, entries, waiting)


def papers_of(folder: Path, lesson: str | None = None) -> list[Paper]:
    """The papers with marks of a class, of one lesson where one is named.

    Raises Unusable where there is none: an empty table or page would look like a result.
    """
    papers = [paper for paper in all_papers(folder) if lesson in (None, paper.lesson)]
    marked = [paper for paper in papers if not paper.problem]
    if marked:
        return marked
    if papers:
        report = command_line(current().command, "class", "report", folder)
        raise Unusable(
            f"{folder}: none of the {len(papers)} notebooks that count could be graded; "
            f"{report} gives the reasons."
        )
    chosen = f" of {lesson}" if lesson else ""
    grade = command_line(current().command, "class", "grade", folder)
    raise Unusable(f"{folder} holds no graded submission{chosen}: run {grade} first.")


def _paper(folder: Path, result: results.Result, entry: submissions.Submission) -> Paper:
    return Paper(
        result.student,
        printable(entry.name or ""),
        result.lesson,
        result.verdicts,
        file=str(folder / entry.file) if entry.file else "",
        sandbox=result.sandbox,
        numbers=result.variants,
        note=(entry.reason or "").removeprefix("note: "),
        problem=printable(result.problem or ""),
    )


def withheld_of(folder: Path) -> list[submissions.Submission]:
    """Files that do not count, submissions that could not be graded, and those that are not graded yet."""
    entries = submissions.load(folder)
    graded = results.by_place(folder)
    withheld = []
    for entry in submissions.without_repeats(entries):
        if reason := _reason(entry, graded.get(entry.place)):
            withheld.append(replace(entry, reason=reason))
    return withheld


def unmarked(folder: Path, lesson: str | None = None) -> dict[str, str]:
    """{student: why} for all who handed something in and have no mark, of a lesson where one is named.

    Empty for those whose notebooks count, all in other lessons: a class folder may hold a whole course.
    """
    known = results.by_place(folder)
    marked = {(paper.student, paper.lesson) for paper in all_papers(folder) if not paper.problem}
    reasons = defaultdict(list)
    for entry in submissions.load(folder):
        student = entry.student
        named = lesson or entry.lesson
        wanted = [named] if named else current().lessons
        if not student or any((student, name) in marked for name in wanted):
            continue
        why = _reason(entry, known.get(entry.place))
        reasons[student] += []  # a student whose notebooks count, all in other lessons, has none
        if lesson is not None and entry.lesson not in (None, lesson):
            if entry.graded:
                continue
            why = f"it is of {entry.lesson}"
        _, _, path = entry.source.rpartition(": ")
        _, _, file = path.rpartition("/")
        reasons[student].append(f"{file}: {why}")
    return {printable(student): printable("; ".join(why), LONGEST) for student, why in reasons.items()}


def open_matters(folder: Path, lesson: str | None = None) -> list[str]:
    """Sentences on the prose that is not marked yet, for the end of a report or an export."""
    awaited = defaultdict(list)
    for paper in all_papers(folder):
        if lesson in (None, paper.lesson):
            for name in paper.awaited:
                awaited[paper.lesson, name].append(paper.student)
    sentences = []
    for (lesson, name), students in awaited.items():
        listed = ", ".join(students)
        sentences.append(f"{lesson}: {name} is not marked yet, add it to by_hand.csv: {listed}.")
    return sentences


def _reason(entry: submissions.Submission, result: results.Result | None) -> str:
    """Why an entry of the submissions list has no verdicts; empty where it has."""
    if not entry.graded:
        return entry.reason or "it does not count"
    if result is None:
        return f"not graded yet: run {current().command} class grade with --resume"
    return result.problem or ""


def handed_in(folder: Path, lesson: str) -> list[Paper]:
    """All notebooks of a lesson, without their verdicts: those, too, that do not count."""
    papers = []
    for entry in submissions.load(folder):
        if entry.student and entry.file and entry.lesson == lesson:
            name = printable(entry.name or "")
            path = str(folder / entry.file)
            papers.append(Paper(entry.student, name, lesson, (), file=path))
    return papers


def sandboxes(papers: Papers) -> str:
    """The sentence that says where the answers ran."""
    kinds = sorted({paper.sandbox for paper in papers} - {""})
    if not kinds:
        return ""
    sentence = f"Answers ran in the sandbox {' and '.join(kinds)}."
    if "plain" not in kinds:
        return sentence
    return f"{sentence} Plain mode limits resources alone; docs/attacks.md says what it withstands."
