"""Signs that answers of a class were copied, for a person to look at: nothing here is a verdict.

Two signs are looked for: the same uncommon wrong answer, and cells with the same random identifier.  How
alike texts are is left to Dolos or copydetect: `write_programs` writes the folder that they read.
"""

import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from nbjudge.authoring.course import exercise_notebook
from nbjudge.classroom.report_summary import Paper
from nbjudge.classroom.submissions import slug
from nbjudge.classroom.variants import lessons_variants
from nbjudge.course import current
from nbjudge.files import ROOT, write_whole
from nbjudge.finding.notebook import Notebook, first_line, statements_of
from nbjudge.finding.notebook_file import Unusable
from nbjudge.printable import printable
from nbjudge.variants import variants_of

LONGEST = 40  # lines of an answer that are shown
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


def shape(program: str) -> str:
    """A text that two programs share only if they differ in names, comments and layout alone."""
    try:
        tree = ast.parse(program)
        names: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = names.setdefault(node.id, f"n{len(names)}")
            elif isinstance(node, ast.arg):
                node.arg = names.setdefault(node.arg, f"n{len(names)}")
                node.annotation = None
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                node.name = names.setdefault(node.name, f"n{len(names)}")
                node.body = [part for part in node.body if not _is_docstring(part)] or node.body
                node.returns = None
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def answer_text(file: Path, exercise: str) -> str:
    """The last definition of the exercise's function in a notebook; empty if none can be read."""
    try:
        notebook = Notebook.read(file)
    except Unusable:
        return ""
    return definition(notebook, exercise)


def definition(notebook: Notebook, exercise: str) -> str:
    """The last definition of a function, as its author wrote it; empty if the notebook lacks one."""
    return printable(shorten(definitions(notebook, exercise).get(exercise, "")))


def definitions(notebook: Notebook, exercise: str = "") -> dict[str, str]:
    """{function or class: its last definition at the top of a cell}, decorators included.

    An untouched stub counts only where nothing else defines its name. Another name of a function counts as a
    definition, and so does whatever is assigned to `exercise`.
    """
    texts: dict[str, str] = {}
    for cell in notebook.cells:
        lines = cell.text.split("\n")
        for statement in statements_of(cell):
            text = "\n".join(lines[first_line(statement.tree) - 1 : statement.tree.end_lineno])
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


def shorten(text: str) -> str:
    """The text, with a sign where lines beyond LONGEST are left out."""
    lines = text.split("\n")
    return "\n".join([*lines[:LONGEST], "…"] if len(lines) > LONGEST else lines)
