"""The course's answers as a check needs them: each with the other statements of its notebook that it uses."""

import ast
import symtable
from collections.abc import Iterable

from rnnlab.checks.answers import Answer
from rnnlab.exercise_text import ExerciseText
from rnnlab.grading.exercise import Mutant
from rnnlab.percent import BEGIN, END, Cell, SourceError, defines

GIVEN = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)


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
        _given(texts, place, programs),
        source,
    )


def _given(texts: list[str], place: int, programs: list[str]) -> str:
    """Imports, definitions and assignments of other cells whose names the programs use, directly or not."""
    bodies = [ast.parse(text).body for number, text in enumerate(texts) if number != place]
    statements = [statement for body in bodies for statement in body if isinstance(statement, GIVEN)]
    names = {name for program in programs for name in _names_in(ast.parse(program))}
    chosen: set[int] = set()
    while new := {
        number
        for number, statement in enumerate(statements)
        if number not in chosen and _bound_by(statement) & names
    }:
        chosen |= new
        names |= {name for number in new for name in _names_in(statements[number])}
    return "".join(f"{ast.unparse(statements[number])}\n" for number in sorted(chosen))


def _names_in(tree: ast.AST) -> set[str]:
    """Names that a program reads and that are not local to one of its functions."""
    return _read_by(symtable.symtable(ast.unparse(tree), "cell", "exec"))


def _read_by(scope: symtable.SymbolTable) -> set[str]:
    outermost = scope.get_type() == "module"
    symbols = (s for s in scope.get_symbols() if s.is_referenced() and (outermost or s.is_global()))
    return {symbol.get_name() for symbol in symbols}.union(*map(_read_by, scope.get_children()))


def _bound_by(statement: ast.stmt) -> set[str]:
    """Names that a statement of GIVEN gives a value."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    targets = (node for target in statement.targets for node in ast.walk(target))
    return {node.id for node in targets if isinstance(node, ast.Name)}


def _without_markers(cell: Cell) -> str:
    return "\n".join(line for line in cell.text.split("\n") if line.strip() not in (BEGIN, END))


def _check_edits(mutants: tuple[Mutant, ...], source: str, cell: Cell) -> None:
    for mutant in mutants:
        if mutant.old not in source:
            raise cell.error(
                0, f"the mistake {mutant.name!r} edits {mutant.old!r}, which is not in the answer"
            )
