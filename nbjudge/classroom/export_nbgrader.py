"""nbgrader: notebooks with its metadata to hand out, and marks of `class grade` in its gradebook.

nbgrader runs answers and checks in one process, where an answer can change its own marks. Its autograde
therefore serves practice; the marks that count are graded here and written into its gradebook.
"""

import json
import os
import re
import sqlite3
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from nbjudge.authoring.percent import BEGIN, END
from nbjudge.classroom.export_tables import plain_identifier
from nbjudge.classroom.exported import Record
from nbjudge.classroom.report_summary import BY_HAND, Paper, Papers
from nbjudge.course import current
from nbjudge.finding.notebook_file import Unusable
from nbjudge.remedies import pip_install

SCHEMA = 3  # of nbgrader's metadata
CHECK = re.compile(r"check\((\w+)(?:, [^()]*)?\)")
STUB = re.compile(r"^(\s*)raise NotImplementedError\(.*\)$", re.M)


class Pushed(NamedTuple):
    """Marks that went into a gradebook, and students whose marks did not."""

    students: int
    absent: list[str]  # unknown to the gradebook
    withheld: list[str]  # an exercise was not judged
    prose: list[str]  # cells besides exercises, for which the gradebook lacks a place
    others: list[str]  # what somebody else has written there, in words


def source(lesson: str, exercises: Path) -> bytes:
    """A lesson's exercises as an assignment for the folder `source` of an nbgrader course.

    `nbgrader generate_assignment` makes the release from it.
    """
    if not exercises.exists():
        raise Unusable(f"{exercises} is missing: export from a clone of the course, which has the exercises.")
    book = with_metadata(json.loads(exercises.read_bytes()), current().catalogue(lesson))
    return (json.dumps(book, indent=1, ensure_ascii=False) + "\n").encode()


def with_metadata(book: Mapping, points: Mapping[str, int]) -> dict:
    """The notebook with nbgrader's metadata: a solution cell and a test cell for each exercise in `points`.

    The stub stands between solution markers, so that nbgrader keeps the function's first lines. A test cell
    shows the verdict and ends in its points, which nbgrader takes for partial credit.
    """
    cells = [_marked(cell, points) for cell in book["cells"]]
    ids = {cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells}
    missing = [name for name in points if not {name, f"{name}_check"} <= ids]
    if missing:
        raise Unusable(
            f"the notebook has no stub or no check of {', '.join(missing)}: build the course anew."
        )
    return {**book, "cells": cells}


def _marked(cell: Mapping, points: Mapping[str, int]) -> dict:
    text = "".join(cell["source"])
    metadata = {}
    if cell["cell_type"] == "code" and cell["id"] in points and STUB.search(text):
        text = STUB.sub(lambda match: f"{match[1]}{BEGIN}\n{match[0]}\n{match[1]}{END}", text, count=1)
        metadata = _metadata(cell["id"], solution=True)
    elif cell["cell_type"] == "code" and (match := CHECK.fullmatch(text.strip())) and match[1] in points:
        text = f"verdict = {text.strip()}\ndisplay(verdict)\nverdict.points"
        metadata = _metadata(f"{match[1]}_check", grade=True, locked=True)
        metadata["nbgrader"]["points"] = points[match[1]]
    return {**cell, "source": text.splitlines(True), "metadata": {**cell["metadata"], **metadata}}


def _metadata(grade_id: str, grade: bool = False, solution: bool = False, locked: bool = False) -> dict:
    metadata = {"schema_version": SCHEMA, "grade_id": grade_id, "task": False}
    return {"nbgrader": metadata | {"grade": grade, "solution": solution, "locked": locked}}


def push_marks(
    papers: Papers, gradebook: Path, assignment: str | None = None, ours: Record | None = None
) -> Pushed:
    """Write the points of each exercise into an nbgrader gradebook, as its automatic scores.

    ours: {place in the gradebook: values that exports wrote there}, brought up to date, and saved before the
    gradebook is.  A manual score or a comment that is not among these is somebody else's: it stays, and is
    named.

    The assignment, its cells and the students must be in the gradebook already: nothing is invented.
    Raises Unusable if the file is not a gradebook, has none of the students, lacks the assignment or one of
    its cells, or gives a cell other points, before anything is written.
    """
    try:
        from nbgrader.api import Gradebook, MissingEntry
        from sqlalchemy.exc import SQLAlchemyError
    except ModuleNotFoundError as missing:
        remedy = pip_install("nbgrader")
        raise Unusable(f"writing into a gradebook needs the package {missing.name}: {remedy}") from None
    if not gradebook.is_file():
        raise Unusable(f"{gradebook} is not a file: run nbgrader generate_assignment first.")
    prose = sorted({mark.exercise for paper in papers for mark in paper.marks if mark.is_prose})
    pushed = Pushed(0, [], [paper.student for paper in papers if paper.is_withheld], prose, [])
    try:
        _require_gradebook(gradebook)
        with own_programs(), Gradebook(f"sqlite:///{gradebook.absolute()}") as book:
            _require_cells(book, papers, assignment, MissingEntry)
            ids = _identifiers(papers, [student.id for student in book.students])
            pushed.absent.extend(paper.student for paper in papers if paper.student not in ids)
            if not ids:
                raise Unusable(
                    f"{gradebook} has no student of this class, such as {papers[0].student}: add them with "
                    "nbgrader db student import, or name the gradebook of this course."
                )
            chosen = [paper for paper in papers if paper.student in ids and not paper.is_withheld]
            places = _Places(gradebook, Record() if ours is None else ours, pushed.others)
            for paper in chosen:
                name = assignment or current().lessons[paper.lesson]
                _push(book, paper, ids[paper.student], name, places)
            places.ours.save()  # with old values and new ones: a kill leaves one or the other
            book.db.commit()
            places.keep_new_values()
    except (SQLAlchemyError, sqlite3.Error) as error:
        reason = str(error.__cause__ or error).partition("\n")[0]
        raise Unusable(
            f"{gradebook} cannot be used ({reason}): is it of this version of nbgrader, and does no other "
            "program write to it?"
        ) from None
    return pushed._replace(students=len({paper.student for paper in chosen}))


def _require_gradebook(path: Path) -> None:
    """Unusable unless the file is a gradebook: nbgrader would make one of whatever database it is."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        tables = {name for (name,) in database.execute("select name from sqlite_master")}
    if "grade_cells" not in tables and "grade_cell" in tables:
        raise Unusable(
            f"{path} is a gradebook of an nbgrader before 0.6: run `nbgrader db upgrade` in its folder, "
            "which keeps a copy, and export again."
        )
    if "grade_cells" not in tables:
        raise Unusable(f"{path} is not a gradebook of nbgrader: run nbgrader generate_assignment first.")


def _identifiers(papers: Papers, known: Sequence[str]) -> dict[str, str]:
    """{student: identifier in the gradebook}, which may differ in Unicode form and case alone."""
    students = dict.fromkeys(paper.student for paper in papers)
    taken = {*students} & {*known}
    ids = {student: student for student in taken}
    for student in [student for student in students if student not in taken]:
        form = plain_identifier(student)
        alike = [other for other in known if other not in taken and plain_identifier(other) == form]
        if len(alike) == 1:
            ids[student] = alike[0]
            taken.add(alike[0])
    return ids


@contextmanager
def own_programs() -> Iterator[None]:
    """Programs of this environment are found: nbgrader starts alembic, also where nothing is activated.

    SQLAlchemy's warnings about the way in which nbgrader adds submissions are silent.
    """
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Object of type <Submitted")
            yield
    finally:
        os.environ["PATH"] = before


def _require_cells(book, papers: Papers, assignment: str | None, missing: type[Exception]) -> None:
    cells = {
        (paper.lesson, verdict.name, verdict.max_points) for paper in papers for verdict in paper.verdicts
    }
    for lesson, exercise, points in sorted(cells):
        stem = current().lessons[lesson]
        try:
            cell = book.find_grade_cell(f"{exercise}_check", stem, assignment or stem)
        except missing as error:
            raise Unusable(
                f"the gradebook does not have what is to be graded ({error}): choose one lesson with "
                f"--lesson, or export the assignment with {current().command} class export --to nbgrader and "
                "run nbgrader generate_assignment."
            ) from None
        if cell.max_score != points:
            raise Unusable(
                f"{exercise}_check has {cell.max_score:g} points in the gradebook and {points} in this "
                f"class: set {points} in the assignment's source, then run nbgrader generate_assignment."
            )


class _Places:
    """Fields of a gradebook that people write, too: what they wrote there stays."""

    def __init__(self, gradebook: Path, ours: Record, others: list[str]) -> None:
        self.gradebook = str(gradebook.absolute())
        self.ours = ours
        self.others = others
        self.written: dict[str, object] = {}

    def write(self, row: object, field: str, value: object, student: str, cell: str) -> None:
        """Put a value, None for no value, into a field of a row of the gradebook, unless it is another's."""
        key = "\n".join([self.gradebook, student, cell, field])
        before = getattr(row, field)
        known = self.ours.get(key)
        is_ours = before in known if isinstance(known, list) else False
        is_empty = before in (None, "", 0.0) and (before is None or field != "manual_score")
        if is_empty or is_ours:
            setattr(row, field, value)
            self.written[key] = value
            self.ours[key] = [value, before]
        elif before != value:
            decision = "stays" if value is None else f"stays, not replaced by {value}"
            self.others.append(f"{student}, {cell}: {before} {decision}")

    def keep_new_values(self) -> None:
        """Forget the values that were replaced."""
        self.ours |= {key: [value] for key, value in self.written.items()}


def _push(book, paper: Paper, student: str, assignment: str, places: _Places) -> None:
    stem = current().lessons[paper.lesson]
    book.update_or_create_submission(assignment, student)
    for entry in paper.entries:
        if entry.verdict is None:
            continue
        grade = book.find_grade(f"{entry.name}_check", stem, assignment, student)
        grade.auto_score = float(entry.verdict.points)
        grade.needs_manual_grade = False
        manual = float(entry.points) if entry.status == BY_HAND else None
        places.write(grade, "manual_score", manual, student, f"{assignment}, {entry.name}")
        comment = book.find_comment(entry.name, stem, assignment, student)
        text = entry.comment or None
        places.write(comment, "manual_comment", text, student, f"{assignment}, comment on {entry.name}")
