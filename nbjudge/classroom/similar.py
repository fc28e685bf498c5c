"""Signs that answers of a class were copied, for a person to look at: nothing here is a verdict.

Three signs are looked for: the same file or the same text in all cells, the same uncommon wrong answer, and
cells with the same random identifier.  How alike texts are is left to Dolos or copydetect: `programs` are the
files that they read.
"""

import ast
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from nbjudge.authoring.course import exercise_notebook
from nbjudge.classroom.report_summary import Paper, Papers
from nbjudge.classroom.submissions import slug
from nbjudge.classroom.variants import lessons_variants
from nbjudge.course import current
from nbjudge.files import ROOT
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


class SameFile(NamedTuple):
    """Students with one and the same file, or with the same text in every cell that they wrote."""

    papers: tuple[Paper, ...]
    is_whole: bool  # byte for byte


class Group(NamedTuple):
    """Students with the same wrong answer, outside the known mistakes."""

    exercise: str
    texts: tuple[Text, ...]


class SameCells(NamedTuple):
    """Two notebooks with cells that have the same random identifier: one was copied from the other."""

    papers: tuple[Paper, Paper]
    count: int


class Findings(NamedTuple):
    """Everything that a person may want to look at in one lesson."""

    lesson: str
    files: tuple[SameFile, ...]
    wrong: tuple[Group, ...]
    cells: tuple[SameCells, ...]
    unread: tuple[str, ...] = ()  # students whose notebook is lost or damaged in the class folder
    texts: Mapping[str, list[Text]] = MappingProxyType({})  # by exercise: all answers that were attempted


def find_similar(lesson: str, papers: Papers, others: Iterable[Paper] = ()) -> Findings:
    """The signs among the papers of one lesson. others: whatever else was handed in for it."""
    papers = [paper for paper in papers if paper.lesson == lesson and paper.file]
    unread = []
    texts = texts_of(lesson, papers, unread)
    wrong = [group for exercise, answers in texts.items() for group in same_wrong_answers(exercise, answers)]
    handed_out = [cell for book in notebooks_of_the_course(lesson) for cell in book]
    cells = tuple(same_cells(papers, {cell["id"] for cell in handed_out}))
    files = same_files([*papers, *others], {cell["source"] for cell in handed_out})
    return Findings(lesson, tuple(files), tuple(wrong), cells, tuple(unread), texts)


def programs(findings: Findings, out: Path) -> dict[Path, bytes]:
    """{file: its content}: each answer as out/EXERCISE/STUDENT.py, for Dolos or copydetect.

    out/handed_out/EXERCISE holds what the course itself knows of an exercise, its answers and known mistakes:
    what those programs call boilerplate.
    """
    files = {}
    for exercise, texts in findings.texts.items():
        known = enumerate(_answers_and_mistakes(exercise))
        files |= {f"handed_out/{exercise}/{number}.py": text for number, text in known}
        files |= {f"{exercise}/{slug(text.student)}.py": text.program for text in texts if text.program}
    return {out / name: f"{text}\n".encode(errors="backslashreplace") for name, text in files.items()}


def texts_of(lesson: str, papers: Iterable[Paper], unread: list[str]) -> dict[str, list[Text]]:
    """{exercise: the answers that were attempted}; students without a readable notebook join `unread`."""
    texts = {name: [] for name in current().catalogue(lesson)}
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
            yield _cells((ROOT / folder / f"{stem}.ipynb").read_bytes())
    if (ROOT / "solutions" / "source").is_dir():
        for exercise, choices in lessons_variants(lesson).items():
            for numbers in choices:
                yield _cells(exercise_notebook(ROOT, stem, {exercise: numbers}))


def _cells(book: str | bytes) -> list[dict]:
    """The identifiers and texts of a notebook's cells; none where it cannot be read."""
    try:
        cells = [cell for cell in json.loads(book)["cells"] if isinstance(cell, dict)]
        return [
            {"id": str(cell.get("id") or ""), "source": "".join(cell.get("source", ""))} for cell in cells
        ]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _content(path: Path) -> bytes:
    """The bytes of a file; none where it is lost."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _answers_and_mistakes(exercise: str) -> Iterator[str]:
    """The course's answers to all variants of an exercise, and these with its known mistakes."""
    for answer in variants_of(exercise):
        yield answer.source
        for mutant in answer.mutants:
            yield answer.source.replace(mutant.old, mutant.new)


def same_files(papers: Iterable[Paper], handed_out: set[str]) -> Iterator[SameFile]:
    """Groups of students with the same file, byte for byte, and then those with the same text in two cells or
    more that the course did not hand out, and in no other such cell."""
    contents = [(paper, _own_texts(Path(paper.file), handed_out)) for paper in papers]
    listed = []
    for is_whole in True, False:
        groups = defaultdict(dict)
        for paper, (digest, texts) in contents:
            if len(texts) >= 2 - is_whole:
                groups[digest if is_whole else texts][paper.student] = paper
        for group in groups.values():
            if len(group) > 1 and not any(group.keys() <= other for other in listed):
                listed.append(group.keys())
                yield SameFile(tuple(group.values()), is_whole)


def _own_texts(path: Path, handed_out: set[str]) -> tuple[str, tuple]:
    """(digest of a file, texts of its cells that the course did not hand out); of a file without cells, the
    content stands for them, if it has any."""
    content = _content(path)
    texts = [cell["source"] for cell in _cells(content)] or [content]
    own = (text for text in texts if text.strip() and text not in handed_out)
    return hashlib.sha256(content).hexdigest(), tuple(own)


def same_wrong_answers(exercise: str, texts: Sequence[Text]) -> Iterator[Group]:
    """Groups of students with one and the same wrong answer that few gave and the course does not know."""
    known = {shape(program) for program in _answers_and_mistakes(exercise)}
    groups = defaultdict(list)
    for text in texts:
        if not text.is_known and text.program:
            groups[shape(text.program)].append(text)
    for form, group in groups.items():
        if form and form not in known and 2 <= len(group) <= max(2, RARE * len(texts)):
            yield Group(exercise, tuple(group))


def same_cells(papers: Papers, course: set[str]) -> Iterator[SameCells]:
    """Pairs of notebooks that share identifiers of cells which are not among the course's."""
    books = (_cells(_content(Path(paper.file))) for paper in papers)
    own = [{cell["id"] for cell in book} - course - {""} for book in books]
    owners = defaultdict(list)
    for number, ids in enumerate(own):
        for identifier in ids:
            owners[identifier].append(number)
    most = max(2, int(RARE * len(papers)))  # an identifier that many have came from the teacher
    pairs = Counter(pair for who in owners.values() if len(who) <= most for pair in combinations(who, 2))
    for (a, b), count in sorted(pairs.items()):
        yield SameCells((papers[a], papers[b]), count)


def shape(program: str) -> str:
    """A text that two programs share only if they differ in names, comments and layout alone."""
    try:
        tree = ast.parse(program)
        names = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = names.setdefault(node.id, f"n{len(names)}")
            elif isinstance(node, ast.arg):
                node.arg = names.setdefault(node.arg, f"n{len(names)}")
                node.annotation = None
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                node.name = names.setdefault(node.name, f"n{len(names)}")
                node.body = node.body[ast.get_docstring(node) is not None :] or node.body
                node.returns = None
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def answer_text(file: Path, exercise: str) -> str:
    """The last definition of the exercise's function in a notebook; empty if none can be read."""
    with suppress(Unusable):
        return definition(Notebook.read(file), exercise)
    return ""


def definition(notebook: Notebook, exercise: str) -> str:
    """The last definition of a function, as its author wrote it; empty if the notebook lacks one."""
    return printable(definitions(notebook, exercise).get(exercise, ""))


def definitions(notebook: Notebook, exercise: str = "") -> dict[str, str]:
    """{function or class: its last definition at the top of a cell}, decorators included.

    An untouched stub counts only where nothing else defines its name. Another name of a function counts as a
    definition, and so does whatever is assigned to `exercise`.
    """
    texts = {}
    cell_lines = {cell.number: cell.text.split("\n") for cell in notebook.cells}
    for statement in notebook.written:
        lines = cell_lines[statement.cell.number]
        text = "\n".join(lines[statement.lines])
        sites = [site for site in statement.scope.sites if site.name in statement.gives]
        names = {site.name for site in sites if site.name == exercise or site.is_definition}
        texts |= {name: text for name in names if name not in texts or not statement.is_stub}
    return texts


def own_program(notebook: Notebook, exercise: str, known: Collection[str]) -> str:
    """The exercise's function with the functions and classes of the notebook that it uses, but for those in
    `known`."""
    texts = definitions(notebook, exercise)
    chosen = {}
    waiting = [exercise]
    while waiting:
        name = waiting.pop()
        if name in texts and name not in chosen:
            chosen[name] = texts[name]
            names = re.findall(r"[A-Za-z_]\w*", texts[name])
            waiting += [word for word in dict.fromkeys(names) if word not in known]
    return "\n".join(chosen.values())
