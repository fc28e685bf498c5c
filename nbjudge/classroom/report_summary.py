"""Statistics of a lesson over a class: who passed what, which mistakes are frequent, who needs help.

Plain data for the report's page. A fault of the grader is counted apart from all verdicts on students.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from types import MappingProxyType
from typing import NamedTuple

from nbjudge.printable import quantity
from nbjudge.verdict import Status, Verdict

NOT_JUDGED = "not judged"
GROUPS = {  # column of the table of verdicts: the verdicts that it counts
    "passed": (Status.passed,),
    "failed": (Status.failed,),
    "stopped": (Status.crashed, Status.timeout, Status.memory, Status.too_big, Status.forbidden),
    "not attempted": (Status.not_attempted,),
    NOT_JUDGED: (Status.grader_error,),
}
GROUP_OF = {status: group for group, statuses in GROUPS.items() for status in statuses}
UNNAMED = "is wrong in a way that no known mistake explains"
STOPPED = "was stopped ({})"
BY_HAND = "marked by hand"
AWAITED = "not marked yet"


class Mark(NamedTuple):
    """A teacher's mark for an exercise or a prose cell, and a comment."""

    exercise: str
    points: float | None  # None: the check's own, or a prose cell that is not marked yet
    max_points: float
    comment: str = ""
    is_prose: bool = False


class GradedEntry(NamedTuple):
    """One line of what a student gets back: an exercise or a prose cell with its points."""

    name: str
    points: float
    max_points: float
    status: str
    comment: str  # of the teacher
    verdict: Verdict | None  # None for a prose cell

    @property
    def is_open(self) -> bool:
        """Whether its points are still to come: nobody has read it, or the grader could not judge it."""
        return self.status in (AWAITED, Status.grader_error) and self.points < self.max_points

    def headline(self) -> str:
        """One line: sign, word, name, points."""
        most = plain_number(self.max_points)
        if self.is_open:
            return f"○ {AWAITED if self.verdict is None else NOT_JUDGED} · {self.name} · {most} points"
        if self.status == BY_HAND:
            return f"✎ {BY_HAND} · {self.name} · {self.points} of {most} points"
        return self.verdict.headline()


def plain_number(points: float) -> float:
    """The points with at most two decimals; a whole number without any."""
    rounded = round(points, 2)
    return int(rounded) if rounded == int(rounded) else rounded


class Paper(NamedTuple):
    """One student's graded notebook of one lesson."""

    student: str  # the id by which the class knows the student
    name: str  # the full name; empty where it is not known
    lesson: str
    verdicts: tuple[Verdict, ...]
    file: str = ""  # the notebook
    sandbox: str = ""
    numbers: Mapping = MappingProxyType({})  # the variant: {exercise: {name: number}}
    note: str = ""  # what the teacher alone should know
    problem: str = ""  # why the notebook could not be graded; it has no verdicts then
    marks: tuple[Mark, ...] = ()  # of the teacher

    @property
    def score(self) -> float:
        return plain_number(sum(entry.points for entry in self.entries))

    @property
    def max_score(self) -> float:
        return plain_number(sum(entry.max_points for entry in self.entries))

    @property
    def entries(self) -> list[GradedEntry]:
        """All that has points, in the order of the notebook; prose cells at the end."""
        marks = {mark.exercise: mark for mark in self.marks}
        return [
            *(_entry(verdict, marks.get(verdict.name)) for verdict in self.verdicts),
            *(_entry(None, mark) for mark in self.marks if mark.is_prose),
        ]

    @property
    def remarks(self) -> list[str]:
        """Whatever a reader of the points should know besides."""
        points = quantity(self.open_points, "point")
        is_open = []
        if self.open_points:
            is_open = [f"{points} not judged, by a fault of the grader"]
        return is_open + [f"{name} not marked yet" for name in self.awaited]

    @property
    def is_withheld(self) -> bool:
        """Whether a part is still to come: until then the sum of the others is not shown as the mark."""
        return any(entry.is_open for entry in self.entries)

    @property
    def open_points(self) -> int:
        """Points that a fault of the grader keeps open."""
        faults = (entry for entry in self.entries if entry.is_open and entry.verdict is not None)
        return sum(entry.max_points - entry.points for entry in faults)

    @property
    def awaited(self) -> list[str]:
        """Prose cells that the teacher has not marked yet."""
        return [entry.name for entry in self.entries if entry.status == AWAITED]

    @property
    def attempts(self) -> list[Verdict]:
        """The verdicts on exercises that the student worked on."""
        outside = (Status.not_attempted, Status.grader_error)
        return [verdict for verdict in self.verdicts if verdict.status not in outside]

    @property
    def unsolved(self) -> list[Verdict]:
        """The verdicts on exercises that the student worked on and did not solve."""
        return [verdict for verdict in self.attempts if not verdict.passed]


Papers = Sequence[Paper]


def _entry(verdict: Verdict | None, mark: Mark | None) -> GradedEntry:
    """What the student gets back for an exercise or, without a verdict, a prose cell."""
    comment = mark.comment if mark else ""
    if mark and mark.points is not None:
        return GradedEntry(
            mark.exercise, plain_number(mark.points), mark.max_points, BY_HAND, comment, verdict
        )
    if verdict is None:
        return GradedEntry(mark.exercise, 0, mark.max_points, AWAITED, comment, None)
    return GradedEntry(verdict.name, verdict.points, verdict.max_points, verdict.status, comment, verdict)


class ExerciseVerdicts(NamedTuple):
    """The verdicts on one exercise."""

    exercise: str
    counts: dict[str, int]  # {column of GROUPS: students}

    @property
    def attempts(self) -> int:
        return sum(self.counts[group] for group in ("passed", "failed", "stopped"))

    @property
    def share(self) -> float:
        """Share of those who attempted it that passed."""
        return self.counts["passed"] / max(1, self.attempts)


class Mistake(NamedTuple):
    """One misconception, with an example of what those students saw."""

    exercise: str
    misconception: str  # completes the sentence that begins with the exercise's name
    students: tuple[str, ...]
    attempts: int  # students who worked on the exercise
    message: str  # the example
    file: str  # the notebook that it comes from

    @property
    def is_named(self) -> bool:
        return self.misconception != UNNAMED and not self.misconception.startswith(STOPPED[:12])


class Summary(NamedTuple):
    """All that the report says about one lesson."""

    lesson: str
    papers: list[Paper]
    points: tuple[float, ...]  # lowest, median, highest of the marks that are complete; empty without any
    rows: list[ExerciseVerdicts]
    mistakes: list[Mistake]
    stuck: list[Paper]  # less than half solved of what was attempted
    untouched: list[Paper]  # notebooks in which nothing was attempted
    faults: list[tuple[Paper, Verdict]]
    looks: list[tuple[Paper, Verdict]]
    withheld: int  # students of whom a part is still to come


def summarise(lesson: str, submissions: Iterable[Paper]) -> Summary:
    """The statistics of the submissions of one lesson."""
    papers = [paper for paper in submissions if paper.lesson == lesson]
    scores = [paper.score for paper in papers if not paper.is_withheld]
    pairs = [(paper, verdict) for paper in papers for verdict in paper.verdicts]
    return Summary(
        lesson,
        papers,
        (min(scores), median(scores), max(scores)) if scores else (),
        verdict_rows(papers),
        frequent_mistakes(papers),
        stuck_students(papers),
        [paper for paper in papers if all(v.status is Status.not_attempted for v in paper.verdicts)],
        [(paper, verdict) for paper, verdict in pairs if verdict.status is Status.grader_error],
        [(paper, verdict) for paper, verdict in pairs if verdict.looks],
        len(papers) - len(scores),
    )


def verdict_rows(papers: Papers) -> list[ExerciseVerdicts]:
    """One row for each exercise, in the order of the notebook."""
    counts = defaultdict(Counter)
    for paper in papers:
        for verdict in paper.verdicts:
            counts[verdict.name][GROUP_OF[verdict.status]] += 1
    return [ExerciseVerdicts(name, {group: c[group] for group in GROUPS}) for name, c in counts.items()]


def frequent_mistakes(papers: Papers) -> list[Mistake]:
    """The misconceptions, the most frequent first; wrong answers without a known one stand at the end."""
    attempts = Counter(verdict.name for paper in papers for verdict in paper.attempts)
    groups = defaultdict(list)
    for paper in papers:
        for verdict in paper.unsolved:
            groups[verdict.name, verdict.misconception or _reason(verdict)].append((paper, verdict))
    mistakes = []
    for (exercise, misconception), cases in groups.items():
        paper, example = min(cases, key=lambda case: len(case[1].message))  # the shortest message reads best
        students = tuple(dict.fromkeys(case[0].student for case in cases))
        mistakes.append(
            Mistake(exercise, misconception, students, attempts[exercise], example.message, paper.file)
        )
    return sorted(mistakes, key=lambda m: (not m.is_named, -len(m.students), m.exercise, m.misconception))


def _reason(verdict: Verdict) -> str:
    """The predicate for a wrong answer whose misconception is not known; crashes go by their exception."""
    if verdict.status is Status.failed:
        return UNNAMED
    exception = None
    if verdict.status is Status.crashed:
        exception = re.match(r"(\w{1,40}): ", verdict.message)
    return STOPPED.format(verdict.status.word + (f": {exception[1]}" if exception else ""))


def stuck_students(papers: Papers) -> list[Paper]:
    """Papers with less than half solved of what was attempted, those with most unsolved exercises first."""
    stuck = (paper for paper in papers if 2 * len(paper.unsolved) > len(paper.attempts))
    return sorted(stuck, key=lambda paper: (-len(paper.unsolved), paper.student))
