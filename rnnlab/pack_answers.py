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
    """The answer, with the statements of other cells that it needs, chosen as grading chooses them."""
    own = [cell for cell in exercise.cells if defines(cell) == exercise.name]
    if len(own) != 1:
        raise SourceError(f"{exercise.cells[0].where}:1: one cell defines {exercise.name}, not {len(own)}")
    texts = [_without_markers(cell) for cell in cells if cell.kind == "code"]
    place = [cell for cell in cells if cell.kind == "code"].index(own[0])
    source = texts[place] = exercise.reference or texts[place]
    parsed = [parse(number, text) for number, text in enumerate(texts)]
    chosen = answer_in(parsed, exercise.name)
    given = [
        statement
        for (label, _, indices) in chosen.cells
        for cell in parsed
        if cell.label == label and cell.number != place
        for statement in (_source(cell, index) for index in indices)
    ]
    answer = Answer(
        exercise.name,
        exercise.points,
        exercise.difficulty,
        exercise.minutes,
        exercise.lines,
        exercise.hints,
        tuple(Mutant(*mistake) for mistake in exercise.mistakes),
        exercise.right,
        "\n".join(given) + "\n",
        source.rstrip("\n") + "\n",
    )
    _check_edits(answer, own[0])
    return answer


def _source(cell, index: int) -> str:
    """The lines of one statement of a parsed cell, with its decorators."""
    statement = cell.statements[index]
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
    return "\n".join(cell.text.split("\n")[first - 1 : statement.end_lineno])


def _without_markers(cell: Cell) -> str:
    return "\n".join(line for line in cell.text.split("\n") if line.strip() not in (BEGIN, END))


def _check_edits(answer: Answer, cell: Cell) -> None:
    for mutant in answer.mutants:
        if mutant.old not in answer.source:
            raise cell.error(0, f"the mistake {mutant.name!r} edits {mutant.old!r}, which is not in the answer")
