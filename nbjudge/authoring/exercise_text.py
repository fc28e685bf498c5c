"""An exercise's one text: statement, answer, properties, hints, known mistakes, other right answers.

solutions/source/<lesson>/<exercise>.py is a py:percent text. Its prose and code cells go into the notebooks;
the cells of the other kinds do not:

    # %% [properties]                points, difficulty (1 to 5), minutes and lines of the answer
    # %% [hint]                      three of them: orient, key idea, near-code
    # %% [mistake] forgets tanh      an edit of the answer, by lines: `# - old` becomes `# + new`
    # %% [right]                     another right answer, as a program
    # %% [reference]                 the judge's own answer, only where it must differ from the one shown
    # %% [variant] tick=1000         the exercise with another number: edits of all that the text says

An edit of a variant holds for the statement, the answer, the hints, the mistakes and the other right answers
alike, wherever its old lines stand. The title names the numbers; the student's `check` names them, too.

`[variant] warm=2..9` is eight variants, `registers=8192..32768:4096` seven: the new lines of the edits say
{warm}, {warm+1}, {2*warm} or {2*warm-1} where the number stands.

`# %% [exercise] NAME` in solutions/source/<lesson>.py stands for the cells of that file.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from nbjudge.authoring.percent import SourceCell, SourceError, parse
from nbjudge.exercise import Numbers

PROPERTIES = ("points", "difficulty", "minutes", "lines")
HINTS = 3


NUMBER = re.compile(r"([a-z]\w*)=([\w.]+)")
RANGE = re.compile(r"([a-z]\w*)=(\d+)\.\.(\d+)(?::(\d+))?")
INCOMPLETE = {
    "mistake": "a mistake has a name, lines with - and lines with +",
    "variant": "each edit of a variant has lines with - and behind them lines with +",
}
Edit = tuple[str, str]  # old, new


class Variant(NamedTuple):
    """The exercise with other numbers: what they are called, and the edits that bring them into the text."""

    numbers: Numbers
    edits: tuple[Edit, ...]
    cell: SourceCell  # for messages


class ExerciseText(NamedTuple):
    """What the text of one exercise says."""

    name: str
    cells: list[SourceCell]  # those that the notebooks show
    points: int
    difficulty: int  # 1 to 5
    minutes: int
    lines: int  # expected size of the answer
    hints: tuple[str, ...]
    mistakes: tuple[tuple[str, str, str], ...]  # name, old, new: edits of the answer
    right: tuple[str, ...]  # programs
    reference: str | None  # the program that the judge runs in place of the answer
    variants: tuple[Variant, ...] = ()
    numbers: Mapping[str, int | str] = {}  # of this variant; empty for the course's own exercise


def read_exercise(text: str, where: str, name: str) -> ExerciseText:
    """The parts of an exercise's text. Raises SourceError where one is missing or wrong."""
    by_kind = defaultdict(list)
    shown = []
    for cell in parse(text, where):
        by_kind[cell.kind].append(cell)
        if cell.kind in ("markdown", "code"):
            shown.append(cell)
    properties = by_kind["properties"]
    references = by_kind["reference"]
    if len(properties) != 1 or len(by_kind["hint"]) != HINTS:
        raise SourceError(f"{where}:1: an exercise has one [properties] cell and {HINTS} [hint] cells")
    if len(references) > 1:
        raise references[1].error(-1, "a second [reference]; an exercise has at most one")
    variants = []
    for cell in by_kind["variant"]:
        variants += _variants(cell)
    return ExerciseText(
        name,
        shown,
        **_properties(properties[0]),
        hints=tuple(_paragraphs(cell.text) for cell in by_kind["hint"]),
        mistakes=tuple(map(_mistake, by_kind["mistake"])),
        right=tuple(map(_program, by_kind["right"])),
        reference=_program(references[0]) if references else None,
        variants=tuple(variants),
    )


def _program(cell: SourceCell) -> str:
    """The text of a cell as a file has it."""
    return f"{cell.text}\n"


def varied(exercise: ExerciseText, variant: Variant) -> ExerciseText:
    """The exercise with a variant's numbers. Raises SourceError where an edit finds nothing to change."""
    _check_variant(exercise, variant)
    new = dict(variant.edits)
    longest_first = sorted(new, key=len, reverse=True)
    olds = re.compile("|".join(map(re.escape, longest_first)))  # all edits at once, so that two may swap
    edited = lambda text: olds.sub(lambda match: new[match[0]], text)
    arguments = ", ".join(f"{name}={value!r}" for name, value in variant.numbers.items())
    call = f"check({exercise.name})"
    call_with_numbers = f"check({exercise.name}, {arguments})"
    shown = []
    for cell in exercise.cells:
        text = edited(cell.text).replace(call, call_with_numbers)
        shown.append(replace(cell, text=text))
    return exercise._replace(
        cells=shown,
        hints=tuple(map(edited, exercise.hints)),
        mistakes=tuple(tuple(map(edited, mistake)) for mistake in exercise.mistakes),
        right=tuple(map(edited, exercise.right)),
        reference=exercise.reference and edited(exercise.reference),
        variants=(),
        numbers=variant.numbers,
    )


def with_numbers(exercise: ExerciseText, numbers: Numbers) -> ExerciseText:
    """The exercise with these numbers, those of one of its variants; without any, the exercise itself."""
    if not numbers:
        return exercise
    wanted = dict(numbers)
    variant = next(variant for variant in exercise.variants if variant.numbers == wanted)
    return varied(exercise, variant)


def _check_variant(exercise: ExerciseText, variant: Variant) -> None:
    """Refuse edits that are stale, and a variant that the statement would not show."""
    mistakes = [text for mistake in exercise.mistakes for text in mistake]
    shown = [cell.text for cell in exercise.cells]
    texts = [*shown, *exercise.hints, *mistakes, *exercise.right, exercise.reference or ""]
    for old, _ in variant.edits:
        if not any(old in text for text in texts):
            raise variant.cell.error(0, f"the variant edits {old!r}, which is not in the exercise")
    prose = "\n".join(cell.text for cell in exercise.cells if cell.kind == "markdown")
    if not any(old in prose for old, _ in variant.edits):
        raise variant.cell.error(0, "the variant changes nothing in the statement: nobody would see it")


def _properties(cell: SourceCell) -> dict[str, int]:
    """The numbers of a [properties] cell: a line `points: 4` for each of PROPERTIES."""
    properties = dict(re.findall(r"^(\w+): (\d+)$", cell.text, re.M))
    lines = cell.text.split("\n")
    if tuple(properties) != PROPERTIES or len(lines) != len(PROPERTIES):
        expected = ", ".join(f"{name}: NUMBER" for name in PROPERTIES)
        raise cell.error(0, f"expected the lines {expected}")
    return {name: int(number) for name, number in properties.items()}


def _paragraphs(text: str) -> str:
    """The hint with the lines of each paragraph joined."""
    paragraphs = re.split(r"\n\s*\n", text)
    return "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs)


def _mistake(cell: SourceCell) -> tuple[str, str, str]:
    """(name, old, new) of a [mistake] cell."""
    (edit,) = edits(cell)
    if not cell.title:
        raise cell.error(-1, INCOMPLETE["mistake"])
    return cell.title, *edit


def _variants(cell: SourceCell) -> list[Variant]:
    """The variants of a cell: one, or one for each number of a range in its title."""
    match = RANGE.fullmatch(cell.title)
    if match is None:
        return [_variant(cell)]
    name, first, last, step = match.groups(default="1")
    pairs = edits(cell)
    place = re.compile(rf"\{{(?:(\d+)\*)?{name}([+-]\d+)?\}}")
    numbers = range(int(first), int(last) + 1, int(step))
    if not numbers or not any(place.search(new) for _, new in pairs):
        raise cell.error(-1, f"a range has numbers in rising order, and an edit says {{{name}}}")

    def at(number, text):
        def term(part):
            factor = int(part[1] or 1)
            offset = int(part[2] or 0)
            return str(factor * number + offset)

        return place.sub(term, text)

    variants = []
    for number in numbers:
        edited = tuple((old, at(number, new)) for old, new in pairs)
        variants.append(Variant({name: number}, edited, cell))
    return variants


def _variant(cell: SourceCell) -> Variant:
    """A [variant] cell: `tick=1000, unit=ms` in its title, and one edit or more."""
    parts = [NUMBER.fullmatch(part) for part in cell.title.split(", ")]
    if not all(parts):
        raise cell.error(-1, "a variant names its numbers, such as [variant] tick=1000, unit=ms")
    numbers = {}
    for part in parts:
        name, value = part.groups()
        numbers[name] = int(value) if value.isdecimal() else value
    return Variant(numbers, tuple(edits(cell)), cell)


def edits(cell: SourceCell) -> list[Edit]:
    """The edits of a cell: lines with - that become the lines with + behind them; a mistake is one edit."""
    old = []
    new = []
    pairs = [(old, new)]
    for number, line in enumerate(cell.text.split("\n")):
        sign = line[:1]
        if sign not in ("-", "+") or line[1:2].strip():
            expected = f"a line of a {cell.kind} begins with `# - ` or `# + `"
            raise cell.error(number, f"{expected}, this one is {line!r}")
        if sign == "+":
            new.append(line[2:])
            continue
        if new:
            if cell.kind == "mistake":
                raise cell.error(number, "the lines with - stand before the lines with +")
            old = []
            new = []
            pairs.append((old, new))
        old.append(line[2:])
    if not all(old and new for old, new in pairs):
        raise cell.error(-1, INCOMPLETE.get(cell.kind, INCOMPLETE["variant"]))
    return [("\n".join(old), "\n".join(new)) for old, new in pairs]
