"""tests/answers as cells of programs: an edit is expanded to the program it stands for.

A cell whose lines are `# - old` and `# + new` edits the last whole program above it; above the first one, the
course's own answer. Old lines occur exactly once in that program. All other cells are programs.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from nbjudge.authoring.exercise_text import edits
from nbjudge.authoring.percent import SourceCell, parse
from rnncourse import checks
from rnncourse.checks.answers import answers

FOLDER = Path(__file__).parent / "answers"
MARKS = "# - ", "# + "  # of the lines of an edit


def answer_cells(lesson: str) -> dict[str, list[SourceCell]]:
    """{exercise: its cells, every text a program} of one lesson."""
    paths = sorted((FOLDER / checks.LESSONS[lesson]).glob("*.py"))
    return {
        path.stem: [*expanded(parse(path.read_text("utf-8"), path.name), answers(lesson)[path.stem].source)]
        for path in paths
    }


def expanded(cells: list[SourceCell], solution: str) -> Iterator[SourceCell]:
    """The cells with each edit made. Raises SourceError where its old lines do not occur exactly once."""
    base = solution.rstrip("\n")
    for cell in cells:
        if cell.text.startswith(MARKS):
            yield replace(cell, text=_edited(base, cell))
        else:
            yield cell
            base = cell.text


def _edited(program: str, cell: SourceCell) -> str:
    uncommented = "\n".join(line[2:] for line in cell.text.split("\n"))
    for old, new in edits(replace(cell, text=uncommented)):
        if (times := program.count(old)) != 1:
            raise cell.error(-1, f"the edited program has {old!r} {times} times, not once")
        program = program.replace(old, new)
    return program
