"""Keep every derived file in step with its single source.

`main` builds notebooks/, exercises/ and solutions/ from their source/, drawings, and the tables of lessons in
pages of prose; with --check it changes
nothing and names every stale, missing or stray file, with exit status 1 if there is one.

An exercise is its solution without the lines between ### BEGIN SOLUTION and ### END SOLUTION. In prose the
line `<!-- exercise: NAME -->` stands for that exercise's properties, which its text alone states: see
exercise_text.py. What a check needs of the answers is packed into the course's answers_folder, so that no
answer stands in plain text in the package.  Lessons show the drawings in its drawings_folder, which the
scripts in the folder drawings/ make.
"""

import argparse
import ast
import hashlib
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from symtable import symtable
from types import ModuleType

from nbjudge.answers import ModelAnswer, pack, unpack
from nbjudge.authoring.exercise_text import (
    PROPERTIES,
    ExerciseText,
    Variant,
    read_exercise,
    varied,
    with_numbers,
)
from nbjudge.authoring.percent import (
    BEGIN,
    END,
    HIDDEN,
    INCLUDE,
    SourceCell,
    SourceError,
    cut,
    defines,
    parse,
)
from nbjudge.course import current
from nbjudge.exercise import Mutant
from nbjudge.files import ROOT
from nbjudge.printable import quantity

GIVEN = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)
NOTEBOOKS = ("notebooks/*.ipynb", "exercises/*.ipynb", "solutions/*.ipynb")
STEM = re.compile(r"\d\d_[a-z0-9_]+")
PLACEHOLDER = re.compile(r"^<!-- exercise: (\w+) -->$", re.M)
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

Cells = list[SourceCell]
Files = dict[Path, bytes]


def notebook(cells: Cells, ids: list[str]) -> str:
    """The notebook of these cells, byte for byte as nbformat writes it, without outputs."""
    entries = []
    for cell, name in zip(cells, ids, strict=True):
        metadata = {"jupyter": {"source_hidden": True}} if cell.is_folded else {}
        entry = {
            "cell_type": cell.kind,
            "id": name,
            "metadata": metadata,
            "source": cell.text.splitlines(True),
        }
        if cell.kind == "code":
            entry |= {"execution_count": None, "outputs": []}
        entries.append(entry)
    book = {"cells": entries, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def cell_ids(cells: Cells) -> list[str]:
    """An id a cell, from its own text: an inserted cell renames no other. Equal cells are numbered."""
    ids = []
    seen = Counter()
    for cell in cells:
        digest = hashlib.sha256(f"{cell.kind}\n{cell.text}".encode())
        name = defines(cell) or digest.hexdigest()[:12]
        seen[name] += 1
        count = seen[name]
        ids.append(name if count == 1 else f"{name}-{count}")
    return ids


def filled(cell: SourceCell, stem: str, link: str, exercises: dict) -> SourceCell:
    """The cell with each placeholder replaced by that exercise's properties and a link to `link`."""
    if cell.kind != "markdown":
        return cell

    def properties(placeholder):
        exercise = _known(cell, placeholder[1], stem, exercises)
        parts = [
            f"**{exercise.name}**",
            f"difficulty {exercise.difficulty} of 5",
            quantity(exercise.minutes, "minute"),
            quantity(exercise.points, "point"),
            f"about {quantity(exercise.lines, 'line')}",
            link,
        ]
        return " · ".join(parts)

    return replace(cell, text=PLACEHOLDER.sub(properties, cell.text))


def _known(cell: SourceCell, name: str, stem: str, exercises: dict):
    if name not in exercises:
        known = ", ".join(exercises) or "none"
        raise cell.error(0, f"no exercise {name!r} in solutions/source/{stem}.py, which includes {known}")
    return exercises[name]


def lesson(cells: Cells, stem: str, exercises: dict) -> str:
    """The lesson notebook of a source's cells."""
    for cell in cells:
        if cell.kind not in ("markdown", "code"):
            raise cell.error(-1, f"a [{cell.kind}] cell in a lesson; exercises live in solutions/source/")
        if BEGIN in cell.text or END in cell.text:
            raise cell.error(0, "a solution marker in a lesson; answers live in solutions/source/")
    shown = [filled(cell, stem, f"[exercise](../work/{stem}.ipynb)", exercises) for cell in cells]
    return notebook(shown, cell_ids(cells))


def solution_and_exercise(cells: Cells, stem: str, exercises: dict) -> tuple[str, str]:
    """The solved notebook and the one to solve; both have the same cells under the same ids."""

    def size(cell):
        def about(name):
            exercise = _known(cell, name, stem, exercises)
            return f"about {quantity(exercise.lines, 'line')}"

        return about

    solved = [filled(cell, stem, f"[lesson](../notebooks/{stem}.ipynb)", exercises) for cell in cells]
    to_solve = [cut(cell, size(cell)) if cell.kind == "code" else cell for cell in solved]
    return notebook(solved, cell_ids(cells)), notebook(to_solve, cell_ids(cells))


def exercises_of(root: Path, stem: str) -> dict[str, ExerciseText]:
    """{name: text} of a lesson's exercises, in the order in which its solution source includes them."""
    included = (cell for cell in _outline(root, stem) if cell.kind == INCLUDE)
    return {cell.title: _exercise_text(cell, stem, root) for cell in included}


def _outline(root: Path, stem: str) -> Cells:
    """The cells of a lesson's solution source, and an [exercise] for each that the lesson alone names.

    It stands before the next exercise that the source includes, or else before its last cell of code.
    """
    cells = _cells(root / f"solutions/source/{stem}.py", root)
    place = {cell.title: cell for cell in cells if cell.kind == INCLUDE}
    following = cells[-1] if cells and cells[-1].kind == "code" else None  # it shows the learner's progress
    lesson_cells = _cells(root / f"notebooks/source/{stem}.py", root) if cells else []
    for cell in reversed(lesson_cells):
        for name in reversed(PLACEHOLDER.findall(cell.text)):
            text = root / f"solutions/source/{stem}/{name}.py"
            if name not in place and text.exists():
                included = SourceCell(INCLUDE, "", cell.where, cell.line, name, cell.opening)
                index = cells.index(following) if following else len(cells)
                cells.insert(index, included)
                place[name] = included
            following = place.get(name, following)
    return cells


def exercise_notebook(root: Path, stem: str, numbers: Mapping[str, Mapping]) -> str:
    """The notebook to solve of a lesson, with the numbers of variants: {exercise: numbers}."""
    texts = exercises_of(root, stem)
    exercises = {name: with_numbers(text, numbers.get(name, {})) for name, text in texts.items()}
    cells = solved_cells(root, stem, exercises)
    _, to_solve = solution_and_exercise(cells, stem, exercises)
    return to_solve


def solved_cells(root: Path, stem: str, exercises: Mapping[str, ExerciseText] | None = None) -> Cells:
    """All cells of a lesson's solved notebook: its own, and those of the exercises that it includes."""
    exercises = exercises or exercises_of(root, stem)
    cells = []
    for cell in _outline(root, stem):
        if cell.kind in HIDDEN:
            raise cell.error(-1, f"a [{cell.kind}] cell outside the text of an exercise")
        cells += exercises[cell.title].cells if cell.kind == INCLUDE else [cell]
    return cells


def _cells(source: Path, root: Path) -> Cells:
    """The cells of a source text; none where there is no such file."""
    where = source.relative_to(root).as_posix()
    if source.exists():
        return parse(source.read_text(encoding="utf-8"), where)
    return []


def _exercise_text(cell: SourceCell, stem: str, root: Path) -> ExerciseText:
    path = root / f"solutions/source/{stem}/{cell.title}.py"
    where = path.relative_to(root).as_posix()
    if not path.exists():
        raise cell.error(-1, f"it includes {cell.title}, but there is no {where}")
    return read_exercise(path.read_text(encoding="utf-8"), where, cell.title)


def derived(root: Path = ROOT) -> tuple[Files, list[SourceError]]:
    """{path: its bytes} of every derived file, and the errors of sources that cannot be built."""
    texts = _drawing_files(root)
    errors = []
    sources = [*root.glob("notebooks/source/*.py"), *root.glob("solutions/source/*.py")]
    for source in sorted(sources):
        try:
            texts |= _notebook_files(source, root)
        except SourceError as error:
            errors.append(error)
    if not errors:
        texts |= _tables(root, texts)
    return texts, errors


def _tables(root: Path, texts: Mapping[Path, bytes]) -> Files:
    """Pages with tables of the lessons, made by docs/tables.py from the answers that were packed just now."""
    packed = {path.stem: unpack(data) for path, data in texts.items() if path.suffix == ".answers"}
    script = root / "docs/tables.py"
    if script.exists():
        return _loaded(script, "docs_tables").pages(root, packed)
    return {}


def _drawing_files(root: Path) -> Files:
    """The files of the drawings' folder; none without such a folder."""
    script = root / "drawings/__init__.py"
    folder = root / current().drawings_folder
    files = _loaded(script, "drawings").files() if script.exists() else {}
    return {folder / name: content for name, content in files.items()}


def _loaded(script: Path, package: str) -> ModuleType:
    """A module of the checkout as it is now, and if it is a package, its modules."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    spec = spec_from_file_location(package, script, submodule_search_locations=[str(script.parent)])
    sys.modules[package] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _notebook_files(source: Path, root: Path) -> Files:
    stem = source.stem
    where = source.relative_to(root).as_posix()
    if not STEM.fullmatch(stem):
        raise SourceError(f"{where}:1: a source is named like 02_bptt.py")
    exercises = exercises_of(root, stem)
    if source.parts[-3] == "notebooks":
        text = lesson(_cells(source, root), stem, exercises)
        return {root / f"notebooks/{stem}.ipynb": text.encode()}
    cells = solved_cells(root, stem)
    solved, to_solve = solution_and_exercise(cells, stem, exercises)
    packed = pack([packed_answer(cells, exercise) for exercise in exercises.values()])
    return {
        root / f"solutions/{stem}.ipynb": solved.encode(),
        root / f"exercises/{stem}.ipynb": to_solve.encode(),
        root / f"{current().answers_folder}/{stem[3:]}.answers": packed,
    }


def differences(files: Files, root: Path = ROOT) -> dict[Path, str]:
    """{path: "missing" | "stale" | "stray"} of every derived file that is not what its source says."""
    states = {path: "stale" if path.exists() else "missing" for path in files}
    for path, data in files.items():
        if path.exists() and _same_content(path, data):
            del states[path]
    answers = current().answers_folder
    drawings = current().drawings_folder
    for pattern in (*NOTEBOOKS, f"{answers}/*.answers", f"{drawings}/*.svg", f"{drawings}/*.json"):
        for path in root.glob(pattern):
            if path not in files and not _has_source(path, root):
                states[path] = "stray"
    return dict(sorted(states.items()))


def _same_content(path: Path, data: bytes) -> bool:
    """Byte for byte; packed answers by content, because compressors differ between machines."""
    if path.suffix != ".answers":
        return path.read_bytes() == data
    try:
        return unpack(path.read_bytes()) == unpack(data)
    except (ValueError, KeyError, TypeError, zlib.error):
        return False


def _has_source(path: Path, root: Path) -> bool:
    """Whether a source of that name exists, be it one that cannot be built."""
    folder = "notebooks" if path.parent.name == "notebooks" else "solutions"
    sources = (root / folder / "source").glob(f"*{path.stem}.py")
    return any(sources)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Build, or with --check compare; 0 when every derived file is what its source says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing, name what is not up to date")
    check = parser.parse_args(arguments).check
    files, errors = derived(root)
    states = differences(files, root)
    for path, state in states.items():
        writes = not check and state != "stray"
        if writes:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[path])
        print("wrote" if writes else state, path.relative_to(root).as_posix())
    for error in errors:
        print(error, file=sys.stderr)
    left = [path for path, state in states.items() if check or state == "stray"]
    return int(bool(left or errors))


def packed_answer(cells: Cells, exercise: ExerciseText) -> ModelAnswer:
    """The answer to an exercise, from the cells of its lesson's solved notebook and its text."""
    own = [cell for cell in exercise.cells if defines(cell) == exercise.name]
    if len(own) != 1:
        where = exercise.cells[0].where
        raise SourceError(f"{where}:1: one cell defines {exercise.name}, not {len(own)}")
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
    variants = tuple(packed_answer(*_with_variant(cells, exercise, variant)) for variant in exercise.variants)
    return ModelAnswer(
        mutants=mutants, prelude=prelude, source=source, numbers=numbers, variants=variants, **same
    )


def _with_variant(cells: Cells, exercise: ExerciseText, variant: Variant) -> tuple[Cells, ExerciseText]:
    """The cells of the lesson and the exercise, with a variant's numbers."""
    other = varied(exercise, variant)
    place = cells.index(exercise.cells[0])
    return [*cells[:place], *other.cells, *cells[place + len(other.cells) :]], other


def _dependencies(texts: list[str], place: int, programs: list[str]) -> str:
    """Imports, definitions and assignments of other cells whose names the programs use, directly or not."""
    others = [text for number, text in enumerate(texts) if number != place]
    bodies = [ast.parse(text).body for text in others]
    statements = [statement for body in bodies for statement in body if isinstance(statement, GIVEN)]
    names = set().union(*map(_global_names, programs))
    chosen = {}  # {number: its text} of the statements
    while True:
        binding = {number for number, statement in enumerate(statements) if _bound_names(statement) & names}
        new = binding - chosen.keys()
        if not new:
            return "".join(f"{chosen[number]}\n" for number in sorted(chosen))
        for number in new:
            chosen[number] = ast.unparse(statements[number])
            names |= _global_names(chosen[number])


def _global_names(program: str) -> set[str]:
    """Global names that a program reads and does not bind; parameters and local variables do not count."""
    module = symtable(program, "<answer>", "exec")
    tables = [module]
    for table in tables:
        tables += table.get_children()
    read = set()
    for table in tables:
        for symbol in table.get_symbols():
            is_global = table is module or symbol.is_global()
            if is_global and symbol.is_referenced():
                read.add(symbol.get_name())
    bound = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned()}
    return read - bound


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
