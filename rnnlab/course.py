"""Keep every derived file in step with its single source, and give each learner copies of their own.

python -m rnnlab.course          build notebooks/, exercises/ and solutions/ from their source/
python -m rnnlab.course --check  change nothing; name every stale, missing or stray file, exit 1 if any

An exercise is its solution without the lines between ### BEGIN SOLUTION and ### END SOLUTION. In prose the
line `<!-- exercise: NAME -->` stands for that exercise's facts, which rnnlab/checks/<unit>.py alone states.
"""

import argparse
import errno
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from rnnlab.files import write_whole
from rnnlab.percent import BEGIN, END, Cell, SourceError, cut, defines, parse

Registry = Callable[[str], dict]  # unit -> {exercise's name: Exercise}
ROOT = Path(__file__).resolve().parents[1]
SOURCES = {"notebooks": "notebooks/source", "exercises": "solutions/source", "solutions": "solutions/source"}
STEM = re.compile(r"\d\d_[a-z0-9_]+")
PLACEHOLDER = re.compile(r"^<!-- exercise: (\w+) -->$", re.M)
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def registered(unit: str) -> dict:
    """{name: Exercise} of one unit, from its check module."""
    module = f"rnnlab.checks.{unit}"
    try:
        return {exercise.name: exercise for exercise in import_module(module).EXERCISES}
    except ModuleNotFoundError as error:
        if error.name not in (module, "rnnlab.checks"):
            raise
        return {}


def notebook(cells: list[Cell], ids: list[str]) -> str:
    """The notebook of these cells, byte for byte as nbformat writes it, without outputs."""
    entries = []
    for cell, name in zip(cells, ids, strict=True):
        entry = {"cell_type": cell.kind, "id": name, "metadata": {}, "source": cell.text.splitlines(True)}
        entries.append(entry | ({"execution_count": None, "outputs": []} if cell.kind == "code" else {}))
    book = {"cells": entries, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def cell_ids(cells: list[Cell]) -> list[str]:
    """An id a cell, from its own text: an inserted cell renames no other. Equal cells are numbered."""
    ids, seen = [], Counter()
    for cell in cells:
        name = defines(cell) or hashlib.sha256(f"{cell.kind}\n{cell.text}".encode()).hexdigest()[:12]
        seen[name] += 1
        ids.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return ids


def filled(cell: Cell, stem: str, link: str, exercises: dict) -> Cell:
    """The cell with each placeholder replaced by that exercise's facts and a link to `link`."""

    def facts(found: re.Match) -> str:
        e = _known(cell, found[1], stem, exercises)
        effort = (
            f"difficulty {e.difficulty} of 5 · {_count(e.minutes, 'minute')} · {_count(e.points, 'point')}"
        )
        return f"**{e.name}** · {effort} · about {_count(e.lines, 'line')} · {link}"

    return replace(cell, text=PLACEHOLDER.sub(facts, cell.text)) if cell.kind == "markdown" else cell


def _known(cell: Cell, name: str, stem: str, exercises: dict):
    if name not in exercises:
        known = ", ".join(exercises) or "none"
        raise cell.error(0, f"no exercise {name!r} in rnnlab/checks/{stem[3:]}.py, which has {known}")
    return exercises[name]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)


def lesson(text: str, where: str, stem: str, exercises: dict) -> str:
    """The lesson notebook of a source text."""
    cells = parse(text, where)
    for cell in cells:
        if BEGIN in cell.text or END in cell.text:
            raise cell.error(0, "a solution marker in a lesson; answers live in solutions/source/")
    shown = [filled(cell, stem, f"[exercise](../work/{stem}.ipynb)", exercises) for cell in cells]
    return notebook(shown, cell_ids(cells))


def solution_and_exercise(text: str, where: str, stem: str, exercises: dict) -> tuple[str, str]:
    """The solved notebook and the one to solve; both have the same cells under the same ids."""
    cells = parse(text, where)
    size = lambda cell: lambda name: f"about {_count(_known(cell, name, stem, exercises).lines, 'line')}"
    solved = [filled(cell, stem, f"[lesson](../notebooks/{stem}.ipynb)", exercises) for cell in cells]
    to_solve = [cut(cell, size(cell)) if cell.kind == "code" else cell for cell in solved]
    return notebook(solved, cell_ids(cells)), notebook(to_solve, cell_ids(cells))


def derived(root: Path = ROOT, registry: Registry = registered) -> tuple[dict[Path, str], list[SourceError]]:
    """{path: the text it must have} of every derived file, and the errors of sources that cannot be built."""
    texts, errors = {}, []
    for source in sorted([*root.glob("notebooks/source/*.py"), *root.glob("solutions/source/*.py")]):
        try:
            texts |= _built(source, root, registry)
        except SourceError as error:
            errors.append(error)
    return texts, errors


def _built(source: Path, root: Path, registry: Registry) -> dict[Path, str]:
    stem, where = source.stem, source.relative_to(root).as_posix()
    if not STEM.fullmatch(stem):
        raise SourceError(f"{where}:1: a source is named like 02_bptt.py")
    text = source.read_text(encoding="utf-8")
    if source.parts[-3] == "notebooks":
        return {root / f"notebooks/{stem}.ipynb": lesson(text, where, stem, registry(stem[3:]))}
    solved, to_solve = solution_and_exercise(text, where, stem, registry(stem[3:]))
    return {root / f"solutions/{stem}.ipynb": solved, root / f"exercises/{stem}.ipynb": to_solve}


def differences(texts: dict[Path, str], root: Path = ROOT) -> dict[Path, str]:
    """{path: "missing" | "stale" | "stray"} of every derived file that is not what its source says."""
    found = {path: "missing" for path in texts if not path.exists()}
    found |= {p: "stale" for p, text in texts.items() if p.exists() and p.read_bytes() != text.encode()}
    for folder, sources in SOURCES.items():
        for path in root.glob(f"{folder}/*.ipynb"):
            if not (root / sources / f"{path.stem}.py").exists():
                found[path] = "stray"
    return dict(sorted(found.items()))


def main(arguments: list[str] | None = None, root: Path = ROOT, registry: Registry = registered) -> int:
    """Build, or with --check compare; 0 when every derived file is what its source says."""
    parser = argparse.ArgumentParser("python -m rnnlab.course", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing, name what is not up to date")
    check = parser.parse_args(arguments).check
    texts, errors = derived(root, registry)
    found = differences(texts, root)
    for path, state in found.items():
        written = not check and state != "stray"
        if written:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(texts[path].encode())
        print("wrote" if written else state, path.relative_to(root).as_posix())
    for error in errors:
        print(error, file=sys.stderr)
    left = [path for path, state in found.items() if check or state == "stray"]
    return int(bool(left or errors))


def copy_exercises(root: Path = ROOT) -> list[Path]:
    """New copies, in work/, of the exercises that have none there yet; what stands there is never touched."""
    if not (root / "exercises").is_dir():
        raise FileNotFoundError(f"{root} holds no exercises/: run rnnlab in a clone of the course")
    made = []
    for source in sorted(root.glob("exercises/*.ipynb")):
        target = root / "work" / source.name
        if not target.exists():
            _copy(source, target)
            made.append(target)
    return made


def _copy(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(exist_ok=True)
        write_whole(target, source.read_bytes())  # a half copy would never be made good
    except OSError as error:
        remedy = "free some space" if error.errno == errno.ENOSPC else f"make {target.parent} writable"
        message = f"cannot make your copy {target} ({error.strerror}): {remedy}, then start again"
        raise type(error)(error.errno, message) from None


if __name__ == "__main__":
    sys.exit(main())
