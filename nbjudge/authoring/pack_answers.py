"""The course's answers as a check needs them: each with the other statements of its notebook that it uses."""

import ast
from collections.abc import Iterable
from symtable import symtable

from nbjudge.answers import ModelAnswer
from nbjudge.authoring.exercise_text import PROPERTIES, ExerciseText, Variant, varied
from nbjudge.authoring.percent import BEGIN, END, SourceCell, SourceError, defines
from nbjudge.exercise import Mutant

GIVEN = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)


def packed_answers(cells: list[SourceCell], exercises: Iterable[ExerciseText]) -> list[ModelAnswer]:
    """The answers of a lesson, from the cells of its solved notebook and its exercises' texts."""
    return [_packed(cells, exercise) for exercise in exercises]


def _packed(cells: list[SourceCell], exercise: ExerciseText) -> ModelAnswer:
    own = [cell for cell in exercise.cells if defines(cell) == exercise.name]
    if len(own) != 1:
        raise SourceError(f"{exercise.cells[0].where}:1: one cell defines {exercise.name}, not {len(own)}")
    code = [cell for cell in cells if cell.kind == "code"]
    texts = [_without_markers(cell) for cell in code]
    place = code.index(own[0])
    source = (exercise.reference or texts[place]).rstrip("\n") + "\n"
    mutants = tuple(Mutant(*mistake) for mistake in exercise.mistakes)
    _check_edits(mutants, source, own[0])
    programs = [source, *(source.replace(mutant.old, mutant.new) for mutant in mutants)]
    same = {name: getattr(exercise, name) for name in ("name", *PROPERTIES, "hints", "right")}
    prelude = _dependencies(texts, place, programs)
    numbers = dict(exercise.numbers)
    variants = tuple(_packed(*_with_variant(cells, exercise, variant)) for variant in exercise.variants)
    return ModelAnswer(
        mutants=mutants, prelude=prelude, source=source, numbers=numbers, variants=variants, **same
    )


def _with_variant(
    cells: list[SourceCell], exercise: ExerciseText, variant: Variant
) -> tuple[list[SourceCell], ExerciseText]:
    """The cells of the lesson and the exercise, with a variant's numbers."""
    other = varied(exercise, variant)
    place = cells.index(exercise.cells[0])
    return [*cells[:place], *other.cells, *cells[place + len(other.cells) :]], other


def _dependencies(texts: list[str], place: int, programs: list[str]) -> str:
    """Imports, definitions and assignments of other cells whose names the programs use, directly or not."""
    bodies = [ast.parse(text).body for number, text in enumerate(texts) if number != place]
    statements = [statement for body in bodies for statement in body if isinstance(statement, GIVEN)]
    names = {name for program in programs for name in _global_names(program)}
    chosen: set[int] = set()
    while new := {
        number
        for number, statement in enumerate(statements)
        if number not in chosen and _bound_names(statement) & names
    }:
        chosen |= new
        names |= {name for number in new for name in _global_names(ast.unparse(statements[number]))}
    return "".join(f"{ast.unparse(statements[number])}\n" for number in sorted(chosen))


def _global_names(program: str) -> set[str]:
    """Global names that a program reads and does not bind; parameters and local variables do not count."""
    module = symtable(program, "<answer>", "exec")
    tables = [module]
    for table in tables:
        tables += table.get_children()
    symbols = ((table, symbol) for table in tables for symbol in table.get_symbols())
    read = {
        symbol.get_name()
        for table, symbol in symbols
        if symbol.is_referenced() and (table is module or symbol.is_global())
    }
    return read - {symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned()}


def _bound_names(statement: ast.stmt) -> set[str]:
    """Names that a statement of GIVEN gives a value."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    targets = (node for target in statement.targets for node in ast.walk(target))
    return {node.id for node in targets if isinstance(node, ast.Name)}


def _without_markers(cell: SourceCell) -> str:
    return "\n".join(line for line in cell.text.split("\n") if line.strip() not in (BEGIN, END))


def _check_edits(mutants: tuple[Mutant, ...], source: str, cell: SourceCell) -> None:
    for mutant in mutants:
        if mutant.old not in source:
            raise cell.error(
                0, f"the mistake {mutant.name!r} edits {mutant.old!r}, which is not in the answer"
            )
