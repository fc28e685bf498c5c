"""Signs that answers of a class were copied, for a person to look at: nothing here is a verdict.

Two signs are looked for: the same uncommon wrong answer, and cells with the same random identifier.  How
alike texts are is left to Dolos or copydetect: `write_programs` writes the folder that they read.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from nbjudge.authoring.course import exercise_notebook
from nbjudge.classroom.fingerprints import shape
from nbjudge.classroom.notebook_traces import definitions, own_program
from nbjudge.classroom.report_summary import Paper
from nbjudge.classroom.submissions import slug
from nbjudge.classroom.variants import lessons_variants
from nbjudge.course import current
from nbjudge.files import ROOT, write_whole
from nbjudge.finding.notebook import Notebook
from nbjudge.finding.notebook_file import Unusable
from nbjudge.printable import printable
from nbjudge.variants import variants_of

RARE = 0.1  # of a class: a wrong answer that more give is a common mistake


class Text(NamedTuple):
    """One student's answer to an exercise, with the functions of their own that it uses."""

    student: str
    name: str
    program: str  # as it was written, without what the exercise does not need
    is_known: bool  # it passed, or the verdict names its mistake


class Group(NamedTuple):
    """Students with the same wrong answer, outside the known mistakes."""

    exercise: str
    texts: tuple[Text, ...]


class SameCells(NamedTuple):
    """Two notebooks with cells that have the same random identifier: one was copied from the other."""

    students: tuple[str, str]
    names: tuple[str, str]
    count: int


class Findings(NamedTuple):
    """Everything that a person may want to look at in one lesson."""

    lesson: str
    students: int
    wrong: tuple[Group, ...]
    cells: tuple[SameCells, ...]
    unread: tuple[str, ...] = ()  # students whose notebook is lost or damaged in the class folder


def find_similar(lesson: str, papers: Sequence[Paper]) -> Findings:
    """The signs among the papers of one lesson."""
    papers = [paper for paper in papers if paper.lesson == lesson and paper.file]
    unread: list[str] = []
    wrong: list[Group] = []
    for exercise, texts in texts_of(lesson, papers, unread).items():
        wrong += same_wrong_answers(exercise, texts)
    handed_out = {cell["id"] for book in notebooks_of_the_course(lesson) for cell in book}
    cells = tuple(same_cells(papers, handed_out))
    return Findings(lesson, len(papers), tuple(wrong), cells, tuple(unread))


def write_programs(lesson: str, papers: Sequence[Paper], out: Path) -> int:
    """The number of answers written below `out`, as out/EXERCISE/STUDENT.py, for Dolos or copydetect.

    out/handed_out/EXERCISE holds what the course itself knows of an exercise, its answers and known mistakes:
    what those programs call boilerplate.
    """
    papers = [paper for paper in papers if paper.lesson == lesson and paper.file]
    count = 0
    for exercise, texts in texts_of(lesson, papers, []).items():
        known = [*_answers_and_mistakes(exercise)]
        files = {f"handed_out/{exercise}/{number}.py": text for number, text in enumerate(known)}
        files |= {f"{exercise}/{slug(text.student)}.py": text.program for text in texts if text.program}
        count += len(files) - len(known)
        for name, program in files.items():
            path = out / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, f"{program}\n".encode(errors="backslashreplace"))
    return count


def texts_of(lesson: str, papers: Iterable[Paper], unread: list[str]) -> dict[str, list[Text]]:
    """{exercise: the answers that were attempted}; students without a readable notebook join `unread`."""
    texts: dict[str, list[Text]] = {name: [] for name in current().catalogue(lesson)}
    handed = _functions_of_the_course(lesson)
    for paper in papers:
        try:
            notebook = Notebook.read(Path(paper.file))
        except Unusable:
            unread.append(paper.student)
            continue
        for verdict in paper.attempts:
            program = own_program(notebook, verdict.name, handed)
            is_known = verdict.passed or bool(verdict.misconception)
            texts[verdict.name].append(Text(paper.student, paper.name, program, is_known))
    return texts


def _functions_of_the_course(lesson: str) -> set[str]:
    """Functions that the lesson's notebook of exercises defines: no student wrote them, or all did."""
    try:
        return {*definitions(Notebook.read(ROOT / "exercises" / f"{current().lessons[lesson]}.ipynb"))}
    except Unusable:  # no clone of the course
        return {*current().catalogue(lesson)}


def notebooks_of_the_course(lesson: str) -> Iterator[list[dict]]:
    """The cells of all notebooks of a lesson that the course hands out: exercises, lesson, every variant."""
    stem = current().lessons[lesson]
    for folder in ("exercises", "notebooks"):
        with suppress(FileNotFoundError):  # no clone of the course
            yield _cells(json.loads((ROOT / folder / f"{stem}.ipynb").read_bytes()))
    if (ROOT / "solutions" / "source").is_dir():
        for exercise, choices in lessons_variants(lesson).items():
            for numbers in choices:
                yield _cells(json.loads(exercise_notebook(ROOT, stem, {exercise: numbers})))


def _cells(book: dict) -> list[dict]:
    return [{"id": cell["id"], "source": "".join(cell["source"])} for cell in book["cells"]]


def _answers_and_mistakes(exercise: str) -> Iterator[str]:
    """The course's answers to all variants of an exercise, and these with its known mistakes."""
    for answer in variants_of(exercise):
        yield answer.source
        for mutant in answer.mutants:
            yield answer.source.replace(mutant.old, mutant.new)


def same_wrong_answers(exercise: str, texts: Sequence[Text]) -> Iterator[Group]:
    """Groups of students with one and the same wrong answer that few gave and the course does not know."""
    known = {shape(program) for program in _answers_and_mistakes(exercise)}
    groups: dict[str, list[Text]] = defaultdict(list)
    for text in texts:
        if not text.is_known and text.program:
            groups[shape(text.program)].append(text)
    for form, group in groups.items():
        if form and form not in known and 2 <= len(group) <= max(2, RARE * len(texts)):
            yield Group(exercise, tuple(group))


def same_cells(papers: Sequence[Paper], course: set[str]) -> Iterator[SameCells]:
    """Pairs of notebooks that share identifiers of cells which are not among the course's."""
    own = [_cell_ids(Path(paper.file)) - course for paper in papers]
    owners: dict[str, list[int]] = defaultdict(list)
    for number, ids in enumerate(own):
        for identifier in ids:
            owners[identifier].append(number)
    most = max(2, int(RARE * len(papers)))  # an identifier that many have came from the teacher
    pairs = Counter(pair for who in owners.values() if len(who) <= most for pair in combinations(who, 2))
    for (a, b), count in sorted(pairs.items()):
        first = papers[a]
        second = papers[b]
        yield SameCells((first.student, second.student), (first.name, second.name), count)


def _cell_ids(path: Path) -> set[str]:
    """The identifiers of a notebook's cells; none where it cannot be read."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
        known = [cell.get("id") for cell in cells if isinstance(cell, dict)]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()
    return {identifier for identifier in known if isinstance(identifier, str)}


def shown_lines(text: Text) -> list[str]:
    """The lines of an answer, as the page shows them."""
    return printable(text.program).split("\n")
