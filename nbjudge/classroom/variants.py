"""Variants for a class: each student's numbers, drawn from the class key, and the notebooks that hold them.

The numbers depend on the key, the lesson and the student alone. So a notebook that is made again is the same,
the grade finds the numbers without reading the notebook, and nobody without the key can foretell them.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nbjudge import variants
from nbjudge.authoring.course import exercise_notebook
from nbjudge.classroom import exported, keys, submissions
from nbjudge.classroom.export_tables import Table, bare_cell, plain_cell, read_table
from nbjudge.course import current
from nbjudge.files import ROOT, write_whole
from nbjudge.finding.notebook_file import Unusable

COLUMNS = "student", "notebook", "numbers"  # of students.csv
IDENTIFIERS = "student", "id", "student id"  # titles of columns, in this order
TITLES = {"students", "ids", "student ids", "student number", "identifier", "identifiers", "participant",
          "participants", "user", "user id", "username", "login", "name", "names", "email"}  # fmt: skip
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


def hand_out(
    folder: Path, lesson: str, students: Sequence[str], out: Path, overwrite: bool = False
) -> list[Handout]:
    """Write a notebook for each student, and add them to the table of all; from then on the lesson is graded
    by variants.

    Raises Unusable where the lesson has results without variants, and where a notebook was changed since it
    was written, unless `overwrite`.
    """
    _check_lesson(folder, lesson)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    keys.class_key(folder, create=True)
    stem = current().lessons[lesson]
    handouts = []
    for student in students:
        path = out / submissions.slug(student) / f"{stem}.ipynb"
        handouts.append(Handout(student, path, numbers_for(folder, lesson, student)))
    table = _with_handouts(out, handouts)
    books = {}
    for handout in handouts:
        books[handout.path] = exercise_notebook(ROOT, stem, handout.numbers).encode()
    exported.write_files(folder, books, overwrite)
    write_whole(table.path, table.to_bytes())
    in_turn = [*current().lessons]
    varied = sorted({*keys.varied(folder), lesson}, key=in_turn.index)
    keys.save_settings(folder, keys.settings(folder) | {"variants": varied})
    return handouts


def _check_lesson(folder: Path, lesson: str) -> None:
    if not (ROOT / "solutions" / "source").is_dir():
        raise Unusable("variants are made from the course's sources: use a clone of the course.")
    if lesson not in keys.varied(folder) and any(folder.glob(f"results/*/{lesson}.json")):
        raise Unusable(
            f"{folder} holds results of {lesson} without variants: hand out variants in a new class folder."
        )


def lessons_variants(lesson: str) -> dict[str, list[dict]]:
    """{exercise: the numbers of its variants, the course's own first} for exercises that have some."""
    varied = {}
    for name in current().catalogue(lesson):
        numbers = [variant.numbers for variant in variants.variants_of(name)]
        if len(numbers) > 1:
            varied[name] = numbers
    return varied


def describe_counts(lesson: str) -> str:
    """How many variants each exercise has, and which exercises are the same for all, as a sentence."""
    varying = lessons_variants(lesson)
    counts = ", ".join(f"one of {len(numbers)} in {name}" for name, numbers in varying.items())
    same = [name for name in current().catalogue(lesson) if name not in varying]
    if not same:
        return f"{lesson}: {counts}."
    return f"{lesson}: {counts}; the same for all in {', '.join(same)}."


def _with_handouts(out: Path, handouts: Sequence[Handout]) -> Table:
    """The table of whose notebook lies where, with which numbers: as it stands in `out`, whatever a teacher
    has added there, with the rows of these notebooks."""
    path = out / "students.csv"
    is_new = not path.exists() or not path.stat().st_size
    table = Table(path, [[*COLUMNS]], bom=True) if is_new else read_table(path)
    header, *rows = table.rows
    if missing := {*COLUMNS}.difference(header):
        raise Unusable(
            f"{path} lacks the column {min(missing)!r}, so no student can be added to it: move it away, or "
            "name another --out."
        )
    student, notebook, numbers = map(header.index, COLUMNS)
    known = {row[notebook]: row for row in rows if len(row) > notebook}
    for handout in handouts:
        place = handout.path.relative_to(out).as_posix()
        if place not in known:
            known[place] = []
            rows.append(known[place])
        row = known[place]
        row += [""] * (len(header) - len(row))
        row[student] = plain_cell(handout.student)
        row[notebook] = place
        row[numbers] = plain_cell(describe(handout.numbers))
    return table._replace(rows=[header, *rows])


def describe(numbers: Mapping[str, Mapping]) -> str:
    """All numbers of a student: "measure_gemm: warm=3"."""
    parts = []
    for name, known in numbers.items():
        described = variants.describe_numbers(known) if known else "as in the course"
        parts.append(f"{name}: {described}")
    return "; ".join(parts)


def students_in(path: Path) -> list[str]:
    """The students' identifiers in a file, in its order, each once.

    It may be a Moodle grading worksheet, a Canvas gradebook, a CSV with a column `student` or, for nbgrader,
    `id`, or a text with one identifier a line, with a title above them or without: the same identifiers that
    `collect` finds in a download.
    Raises Unusable else.
    """
    filled = [row for row in read_table(path).rows if any(cell.strip() for cell in row)]
    header, *rows = filled or [[]]
    titles = [" ".join(cell.replace("_", " ").split()).casefold() for cell in header]
    participants = [_participant(row[0]) for row in rows]
    known = [title for title in IDENTIFIERS if title in titles]
    if header[:1] == ["Student"] and titles[1:2] == ["id"]:  # of Canvas, which begins with names
        identifiers = _column(rows, 1)
    elif known:
        identifiers = _column(rows, titles.index(known[0]))
    elif len(titles) > 1 and participants and all(participants):
        identifiers = participants
    elif len(titles) == 1:
        identifiers = _column(rows if titles[0] in TITLES else filled, 0)
    else:
        identifiers = []
    if not any(identifiers):
        raise Unusable(
            f"{path} lists no students: expected a Moodle worksheet, a Canvas gradebook, a column `student` "
            "or `id`, or one identifier a line."
        )
    return list(dict.fromkeys(bare_cell(identifier) for identifier in identifiers if identifier))


def _column(rows: Sequence[Sequence[str]], place: int) -> list[str]:
    return [row[place].strip() for row in rows if place < len(row)]


def _participant(cell: str) -> str:
    """The number in "Participant 123456", whatever the language; empty without one."""
    text = cell.strip()
    words = text.rstrip("0123456789")
    digits = text.removeprefix(words)
    return digits if words and len(digits) >= MOODLE_NUMBER else ""
