"""Answers of a class that resemble each other more than the task explains: for a person to look at.

Nothing here is a verdict. What the course itself hands out, its solutions and known mistakes, and what many
in the class wrote is taken away first; short answers are left out, because correct short answers are alike.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from nbjudge.authoring.course import exercise_notebook
from nbjudge.classroom.fingerprints import Fingerprint, all_digests, shape, statement_prints, tokens, winnow
from nbjudge.classroom.notebook_traces import definitions, own_program
from nbjudge.classroom.report_summary import Paper
from nbjudge.classroom.variants import lessons_variants
from nbjudge.course import current
from nbjudge.files import ROOT
from nbjudge.finding.notebook_file import Unusable
from nbjudge.finding.reading import read
from nbjudge.printable import printable
from nbjudge.variants import variants_of

SHORTEST = 80  # tokens of an answer that is compared
COMMON = 0.15  # of a class: what more of its answers share says nothing about two of them
FEWEST = 4  # answers that must share a passage before it can be common
ENOUGH = 4  # rare fingerprints that a pair must share
CLOSE = 0.5  # share of the rarer passages that a pair must have in common
RARE = 0.1  # of a class: a wrong answer that more give is a common mistake


class Text(NamedTuple):
    """One student's answer to an exercise, with the functions of their own that it uses."""

    student: str
    name: str
    program: str  # as it was written, without what the exercise does not need
    is_known: bool  # it passed, or the verdict names its mistake
    prints: tuple[Fingerprint, ...]
    size: int  # tokens


class Pair(NamedTuple):
    """Two answers that share passages which are rare in the class."""

    exercise: str
    texts: tuple[Text, Text]
    share: float  # of the smaller answer's rare passages
    weight: float  # the rarer the passages, the more
    lines: tuple[frozenset[int], frozenset[int]]  # of each text, with shared passages


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
    pairs: tuple[Pair, ...]
    wrong: tuple[Group, ...]
    cells: tuple[SameCells, ...]
    left_out: dict[str, int]  # {exercise: answers that are too short to compare}
    unread: tuple[str, ...] = ()  # students whose notebook is lost or damaged in the class folder


def find_similar(lesson: str, papers: Sequence[Paper]) -> Findings:
    """The similar answers among the papers of one lesson."""
    papers = [paper for paper in papers if paper.lesson == lesson and paper.file]
    pairs = []
    wrong = []
    left_out = {}
    unread = []
    handed_out = list(notebooks_of_the_course(lesson))
    known = {digest for book in handed_out for cell in book for digest in all_digests(cell["source"])}
    for exercise, texts in texts_of(lesson, papers, unread).items():
        long = [text for text in texts if text.size >= SHORTEST]
        left_out[exercise] = len(texts) - len(long)
        pairs += either_way(exercise, long, known | course_prints(exercise))
        wrong += same_wrong_answers(exercise, texts)
    pairs.sort(key=lambda pair: -pair.weight)
    cells = tuple(same_cells(papers, {cell["id"] for book in handed_out for cell in book}))
    return Findings(lesson, len(papers), tuple(pairs), tuple(wrong), cells, left_out, tuple(unread))


def texts_of(lesson: str, papers: Iterable[Paper], unread: list[str]) -> dict[str, list[Text]]:
    """{exercise: the answers that were attempted}; students without a readable notebook join `unread`."""
    texts: dict[str, list[Text]] = {name: [] for name in current().catalogue(lesson)}
    handed = _functions_of_the_course(lesson)
    for paper in papers:
        try:
            cells = read(Path(paper.file))
        except Unusable:
            unread.append(paper.student)
            continue
        for verdict in paper.attempts:
            program = own_program(cells, verdict.name, handed)
            words = tokens(program)
            prints = tuple(winnow(words))
            is_known = verdict.passed or bool(verdict.misconception)
            texts[verdict.name].append(Text(paper.student, paper.name, program, is_known, prints, len(words)))
    return texts


def _functions_of_the_course(lesson: str) -> set[str]:
    """Functions that the lesson's notebook of exercises defines: no student wrote them, or all did."""
    try:
        return {*definitions(read(ROOT / "exercises" / f"{current().lessons[lesson]}.ipynb"))}
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


def course_prints(exercise: str) -> set[int]:
    """Hashes of everything that the course knows of an exercise: given code, hints, answers, mistakes."""
    programs = [program for answer in variants_of(exercise) for program in (answer.prelude, *answer.right)]
    hints = [
        part for answer in variants_of(exercise) for hint in answer.hints for part in hint.split("`")[1::2]
    ]
    programs += [*_answers_and_mistakes(exercise), *hints]
    return {digest for program in programs for digest in all_digests(program)}


def _answers_and_mistakes(exercise: str) -> Iterator[str]:
    """The course's answers to all variants of an exercise, and these with its known mistakes."""
    for answer in variants_of(exercise):
        yield answer.source
        for mutant in answer.mutants:
            yield answer.source.replace(mutant.old, mutant.new)


def either_way(exercise: str, texts: Sequence[Text], known: set[int]) -> list[Pair]:
    """Pairs that share passages, or whole statements in any order; by what they share more of."""
    by_statements = [text._replace(prints=tuple(statement_prints(text.program))) for text in texts]
    pairs = [*similar_pairs(exercise, texts, known), *similar_pairs(exercise, by_statements, known)]
    best: dict[tuple[str, str], Pair] = {}
    for pair in sorted(pairs, key=lambda pair: pair.share):
        best[pair.texts[0].student, pair.texts[1].student] = pair
    return [*best.values()]


def similar_pairs(exercise: str, texts: Sequence[Text], known: set[int]) -> Iterator[Pair]:
    """Pairs of answers that share enough rare passages, each once."""
    owners: dict[int, set[int]] = defaultdict(set)
    for number, text in enumerate(texts):
        for mark in text.prints:
            owners[mark.digest].add(number)
    most = max(FEWEST - 1, int(COMMON * len(texts)))
    rare = {digest: who for digest, who in owners.items() if digest not in known and len(who) <= most}
    weights = {digest: math.log(1 + len(texts) / len(who)) for digest, who in rare.items()}
    shared: dict[tuple[int, int], list[int]] = defaultdict(list)
    for digest, who in rare.items():
        for pair in combinations(sorted(who), 2):
            shared[pair].append(digest)
    own = [sum(weights.get(digest, 0.0) for digest in {m.digest for m in text.prints}) for text in texts]
    for (a, b), digests in shared.items():
        weight = sum(weights[digest] for digest in digests)
        share = weight / min(own[a], own[b])
        if len(digests) >= ENOUGH and share >= CLOSE:
            lines = _shared_lines(texts[a], digests), _shared_lines(texts[b], digests)
            yield Pair(exercise, (texts[a], texts[b]), share, weight, lines)


def _shared_lines(text: Text, digests: Iterable[int]) -> frozenset[int]:
    shared = {*digests}
    marks = (mark for mark in text.prints if mark.digest in shared)
    return frozenset(line for mark in marks for line in range(mark.first, mark.last + 1))


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


def marked_lines(text: Text, lines: frozenset[int]) -> list[tuple[str, bool]]:
    """(line, whether it is of a shared passage) of an answer, as the page shows it."""
    return [(printable(line), number in lines) for number, line in enumerate(text.program.split("\n"), 1)]
