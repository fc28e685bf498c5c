"""A learner's progress as a table: one line an exercise, a word and a sign in each."""

import html
from collections.abc import Iterator, Mapping

from rnnlab import checks
from rnnlab.grading.progress_file import Entry
from rnnlab.grading.verdict import OTHERWISE, SIGNS, Status


class Overview:
    """The exercises of some lessons with what is known of each."""

    def __init__(self, entries: Mapping[str, Entry], lessons: list[str]):
        self.rows = [row for lesson in lessons for row in _rows(lesson, entries)]

    def __str__(self) -> str:
        wide = [max((len(row[k]) for row in self.rows), default=0) + 2 for k in (0, 1)]
        lines = [
            f"{sign} {word:14}{lesson:{wide[0]}}{name:{wide[1]}}{points}"
            for lesson, name, sign, word, points in self.rows
        ]
        return "\n".join([*lines, self.total()])

    __repr__ = __str__

    def total(self) -> str:
        """'2 of 3 exercises passed, 3 of 6 points.'"""
        passed = sum(sign == SIGNS[Status.passed] for _, _, sign, _, _ in self.rows)
        earned, possible = (sum(int(row[-1].split(" of ")[n]) for row in self.rows) for n in (0, 1))
        return f"{passed} of {len(self.rows)} exercises passed, {earned} of {possible} points."

    def _repr_html_(self) -> str:
        cell = lambda text: f"<td style='text-align:left'>{html.escape(text)}</td>"
        line = lambda lesson, name, sign, word, points: "".join(
            map(cell, (f"{sign} {word}", lesson, name, points))
        )
        head = "".join(
            f"<th style='text-align:left'>{title}</th>"
            for title in ("verdict", "lesson", "exercise", "points")
        )
        body = "".join(f"<tr>{line(*row)}</tr>" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{self.total()}</p>"


def _rows(lesson: str, entries: Mapping[str, Entry]) -> Iterator[tuple[str, str, str, str, str]]:
    for name, possible in checks.catalogue(lesson).items():
        entry = entries.get(name)
        status = Status.passed if entry and entry.passed else entry.status if entry else Status.not_attempted
        points = f"{min(entry.points, possible) if entry else 0} of {possible}"
        yield lesson, name, SIGNS.get(status, OTHERWISE[0]), status.replace("_", " "), points
