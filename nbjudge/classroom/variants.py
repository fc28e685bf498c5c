"""Variants for a class: each student's numbers, drawn from the class key, and the notebooks that hold them.

The numbers depend on the key, the lesson and the student alone. So a notebook that is made again is the same,
the grade finds the numbers without reading the notebook, and nobody without the key can foretell them.
"""

import csv
import io
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nbjudge import variants
from nbjudge.authoring.course import exercise_notebook
from nbjudge.classroom import keys, submissions
from nbjudge.classroom.export_tables import plain_cell, read_table
from nbjudge.course import current
from nbjudge.files import ROOT, write_whole
from nbjudge.finding.notebook_file import Unusable

MOODLE_NUMBER = 3  # digits that a participant's number has at least


class Handout(NamedTuple):
    """The notebook of one student."""

    student: str
    path: Path
    numbers: dict[str, dict]  # {exercise: numbers}; empty numbers: the course's own exercise


def numbers_for(folder: Path, lesson: str, student: str) -> dict[str, dict]:
    """{exercise: numbers} of a student, for those exercises of the lesson that have variants.

    Raises Unusable where the class key is missing.
    """
    student = unicodedata.normalize("NFC", student)  # as `collect` and the list of students have it
    token = keys.token(keys.class_key(folder), "variant", lesson, student)
    drawn = {name: variants.draw_numbers(name, token) for name in current().catalogue(lesson)}
    return {name: numbers for name, numbers in drawn.items() if numbers is not None}


def hand_out(folder: Path, lesson: str, students: Sequence[str], out: Path) -> list[Handout]:
    """Write a notebook for each student, and a table of all; from then on the lesson is graded by variants.

    Raises Unusable where the lesson has no variants, or results without them.
    """
    _check_lesson(folder, lesson)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    keys.class_key(folder, create=True)
    stem = current().lessons[lesson]
    handouts = []
    for student in students:
        numbers = numbers_for(folder, lesson, student)
        path = out / submissions.slug(student) / f"{stem}.ipynb"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, exercise_notebook(ROOT, stem, numbers).encode())
        handouts.append(Handout(student, path, numbers))
    write_whole(out / "students.csv", _table(handouts, out))
    stated = keys.settings(folder)
    listed = sorted({*(stated.get("variants") or ()), lesson}, key=list(current().lessons).index)
    keys.save_settings(folder, stated | {"variants": listed})
    return handouts


def _check_lesson(folder: Path, lesson: str) -> None:
    varying = [name for name in current().lessons if lessons_variants(name)]
    if lesson not in varying:
        raise Unusable(
            f"{lesson!r} is not a lesson with variants; those with variants are {', '.join(varying)}."
        )
    if not (ROOT / "solutions" / "source").is_dir():
        raise Unusable("variants are made from the course's sources: use a clone of the course.")
    known = keys.settings(folder).get("variants") or () if folder.exists() else ()
    if lesson not in known and any(folder.glob(f"results/*/{lesson}.json")):
        raise Unusable(
            f"{folder} holds results of {lesson} without variants: hand out variants in a new class folder."
        )


def lessons_variants(lesson: str) -> dict[str, list[dict]]:
    """{exercise: the numbers of its variants, the course's own first} for exercises that have some."""
    listed = {name: [v.numbers for v in variants.variants_of(name)] for name in current().catalogue(lesson)}
    return {name: numbers for name, numbers in listed.items() if len(numbers) > 1}


def describe_counts(lesson: str) -> str:
    """How many variants each exercise has, and which exercises are the same for all, as a sentence."""
    varying = lessons_variants(lesson)
    counts = ", ".join(f"one of {len(numbers)} in {name}" for name, numbers in varying.items())
    same = [name for name in current().catalogue(lesson) if name not in varying]
    return f"{lesson}: {counts}" + (f"; the same for all in {', '.join(same)}." if same else ".")


def _table(handouts: Sequence[Handout], out: Path) -> bytes:
    """The bytes of students.csv: whose notebook lies where, with which numbers."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["student", "notebook", "numbers"])
    for handout in handouts:
        description = describe(handout.numbers)
        place = handout.path.relative_to(out).as_posix()
        rows.writerow([plain_cell(handout.student), place, plain_cell(description)])
    return ("\ufeff" + text.getvalue()).encode()


def describe(numbers: Mapping[str, Mapping]) -> str:
    """All numbers of a student: "measure_gemm: warm=3"."""

    def one(drawn):
        return variants.describe_numbers(drawn) if drawn else "as in the course"

    return "; ".join(f"{name}: {one(drawn)}" for name, drawn in numbers.items())


def students_in(path: Path) -> list[str]:
    """The students' identifiers in a file, in its order, each once.

    It may be a Moodle grading worksheet, a Canvas gradebook, a CSV with a column `student`, or a text with
    one identifier a line: the same identifiers that `collect` finds in a download. Raises Unusable else.
    """
    rows = [row for row in read_table(path).rows if any(cell.strip() for cell in row)]
    header = [cell.strip() for cell in rows[0]] if rows else []
    if "student" in header:
        identifiers = _column(rows[1:], header.index("student"))
    elif len(header) > 1 and "Student" in header[0] and header[1] == "ID":
        identifiers = [number for number in _column(rows[1:], 1) if number]
    elif len(header) > 1 and all(_participant(row[0]) for row in rows[1:]) and rows[1:]:
        identifiers = [_participant(row[0]) for row in rows[1:]]
    elif len(header) == 1:
        identifiers = _column(rows, 0)
    else:
        raise Unusable(
            f"{path} lists no students: expected a Moodle worksheet, a Canvas gradebook, a column `student`, "
            "or one identifier a line."
        )
    return list(
        dict.fromkeys(unicodedata.normalize("NFC", identifier) for identifier in identifiers if identifier)
    )


def _column(rows: Sequence[Sequence[str]], place: int) -> list[str]:
    return [row[place].strip() for row in rows if place < len(row)]


def _participant(cell: str) -> str:
    """The number in "Participant 123456", whatever the language; empty without one."""
    digits = cell.strip()[len(cell.strip().rstrip("0123456789")) :]
    return digits if len(digits) >= MOODLE_NUMBER and digits != cell.strip() else ""
