"""The course's answers as a check needs them: each with the other statements of its notebook that it uses."""

from collections.abc import Iterable

from rnnlab.checks.answers import Answer
from rnnlab.exercise_text import ExerciseText
from rnnlab.grading.exercise import Mutant
from rnnlab.grading.reading import parse
from rnnlab.grading.slices import answer_in
from rnnlab.percent import BEGIN, END, Cell, SourceError, defines


def packed_answers(cells: list[Cell], exercises: Iterable[ExerciseText]) -> list[Answer]:
    """The answers of a lesson, from the cells of its solved notebook and its exercises' texts."""
    return [_packed(cells, exercise) for exercise in exercises]


def _packed(cells: list[Cell], exercise: ExerciseText) -> Answer:
    own = [cell for cell in exercise.cells if defines(cell) == exercise.name]
    if len(own) != 1:
        raise SourceError(f"{exercise.cells[0].where}:1: one cell defines {exercise.name}, not {len(own)}")
    code = [cell for cell in cells if cell.kind == "code"]
    texts, place = [_without_markers(cell) for cell in code], code.index(own[0])
    source = (exercise.reference or texts[place]).rstrip("\n") + "\n"
    mutants = tuple(Mutant(*mistake) for mistake in exercise.mistakes)
    _check_edits(mutants, source, own[0])
    programs = [source, *(source.replace(mutant.old, mutant.new) for mutant in mutants)]
    return Answer(
        exercise.name,
        exercise.points,
        exercise.difficulty,
        exercise.minutes,
        exercise.lines,
        exercise.hints,
        mutants,
        exercise.right,
        _given(texts, place, programs, exercise.name),
        source,
    )


def _given(texts: list[str], place: int, programs: list[str], name: str) -> str:
    """Statements of other cells that the programs in cell `place` need, chosen as grading chooses."""
    needed: set[tuple[int, int]] = set()
    for program in programs:
        parsed = [
            parse(number, text) for number, text in enumerate([*texts[:place], program, *texts[place + 1 :]])
        ]
        chosen = answer_in(parsed, name).cells
        needed |= {(int(label.split()[-1]), index) for label, _, indices in chosen for index in indices}
    others = [parse(number, text) for number, text in enumerate(texts)]
    return "".join(_source(others[cell], index) for cell, index in sorted(needed) if cell != place)


def _source(cell, index: int) -> str:
    """The lines of one statement of a parsed cell, with its decorators."""
    statement = cell.statements[index]
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
    return "\n".join(cell.text.split("\n")[first - 1 : statement.end_lineno]) + "\n"


def _without_markers(cell: Cell) -> str:
    return "\n".join(line for line in cell.text.split("\n") if line.strip() not in (BEGIN, END))


def _check_edits(mutants: tuple[Mutant, ...], source: str, cell: Cell) -> None:
    for mutant in mutants:
        if mutant.old not in source:
            raise cell.error(
                0, f"the mistake {mutant.name!r} edits {mutant.old!r}, which is not in the answer"
            )
