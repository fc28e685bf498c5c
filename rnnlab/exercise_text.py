"""An exercise's one text: statement, answer, facts, hints, known mistakes, other right answers.

solutions/source/<lesson>/<exercise>.py is a py:percent text. Its prose and code cells go into the notebooks;
the cells of the other kinds do not:

    # %% [facts]                     points, difficulty (1 to 5), minutes and lines of the answer
    # %% [hint]                      three of them: orient, key idea, near-code
    # %% [mistake] forgets tanh      an edit of the answer, by lines: `# - old` becomes `# + new`
    # %% [right]                     another right answer, as a program
    # %% [reference]                 the judge's own answer, only where it must differ from the one shown

`# %% [exercise] NAME` in solutions/source/<lesson>.py stands for the cells of that file.
"""

import re
from typing import NamedTuple

from rnnlab.percent import Cell, SourceError, parse

FACTS = ("points", "difficulty", "minutes", "lines")
HINTS = 3


class ExerciseText(NamedTuple):
    """What the text of one exercise says."""

    name: str
    cells: list[Cell]  # those that the notebooks show
    points: int
    difficulty: int  # 1 to 5
    minutes: int
    lines: int  # expected size of the answer
    hints: tuple[str, ...]
    mistakes: tuple[tuple[str, str, str], ...]  # name, old, new: edits of the answer
    right: tuple[str, ...]  # programs
    reference: str | None  # the program that the judge runs in place of the answer


def read_exercise(text: str, where: str, name: str) -> ExerciseText:
    """The parts of an exercise's text. Raises SourceError where one is missing or wrong."""
    cells = parse(text, where)
    by_kind = lambda kind: [cell for cell in cells if cell.kind == kind]
    if len(by_kind("facts")) != 1 or len(by_kind("hint")) != HINTS:
        raise SourceError(f"{where}:1: an exercise has one [facts] cell and {HINTS} [hint] cells")
    if len(by_kind("reference")) > 1:
        raise by_kind("reference")[1].error(-1, "a second [reference]; an exercise has at most one")
    reference = next((cell.text for cell in by_kind("reference")), None)
    return ExerciseText(
        name,
        [cell for cell in cells if cell.kind in ("markdown", "code")],
        **_facts(by_kind("facts")[0]),
        hints=tuple(_paragraphs(cell.text) for cell in by_kind("hint")),
        mistakes=tuple(map(_mistake, by_kind("mistake"))),
        right=tuple(f"{cell.text}\n" for cell in by_kind("right")),
        reference=reference and f"{reference}\n",
    )


def _facts(cell: Cell) -> dict[str, int]:
    """The numbers of a [facts] cell: a line `points: 4` for each of FACTS."""
    facts = dict(re.findall(r"^(\w+): (\d+)$", cell.text, re.M))
    if tuple(facts) != FACTS or len(cell.text.split("\n")) != len(FACTS):
        raise cell.error(0, f"expected the lines {', '.join(f'{fact}: NUMBER' for fact in FACTS)}")
    return {fact: int(number) for fact, number in facts.items()}


def _paragraphs(text: str) -> str:
    """The hint with the lines of each paragraph joined."""
    return "\n\n".join(" ".join(part.split("\n")) for part in re.split(r"\n\s*\n", text))


def _mistake(cell: Cell) -> tuple[str, str, str]:
    """(name, old, new) of a [mistake] cell."""
    old, new = [], []
    for number, line in enumerate(cell.text.split("\n")):
        if line[:1] not in "-+" or line[1:2].strip():
            raise cell.error(
                number, f"a line of a mistake begins with `# - ` or `# + `, this one is {line!r}"
            )
        if line[0] == "-" and new:
            raise cell.error(number, "the lines with - stand before the lines with +")
        (old if line[0] == "-" else new).append(line[2:])
    if not cell.title or not old or not new:
        raise cell.error(-1, "a mistake has a name, lines with - and lines with +")
    return cell.title, "\n".join(old), "\n".join(new)
