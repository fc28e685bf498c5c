"""Thousands of damaged notebooks, each read and sliced, some graded: `python tests/fuzz_notebooks.py 20000`.

Every damage is made to a notebook of the course and drawn from a seed: in its bytes, its JSON, its
metadata and format, the order of its cells, their source. A damaged notebook may be unusable or lose marks; a
traceback is a fault of the grader.
"""

import copy
import json
import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from nbjudge.finding.notebook import Notebook
from nbjudge.finding.reading import Unusable, cells
from nbjudge.grading.grade import grade_one, lesson_of
from nbjudge.running import sandbox
from nbjudge.verdict import Stopped
from rnncourse import checks

GRADED = 400  # one of so many answers is also graded
LARGEST = 30  # seconds of a check whose answers are graded here: none waits for a slow one
VALUES = (
    None,
    True,
    0,
    -1,
    2.5,
    10**30,
    "",
    "x",
    "\ud800",
    "\x00",
    [],
    {},
    [[]],
    [None],
    {"cells": []},
    "\ufeff",
)
LINES = (
    "%matplotlib inline", "!ls", "%%time", "%%bash", "x = !pwd", "?x", "x?", "  x = 1", "\tx", "'''", '"""',
    "(", ")", "]", "\\", "def f(", "class A: pass", "for k in range(3):", "with open(x) as y:", "match x:",
    "try:", "else:", "global x", "del x", "lambda: 0", "import *", "from . import x", "from math import *",
    "x: int", "x += 1", "x[0] = 1", "exec('x = 1')", "globals()['x'] = 1", "@x", "async def f(): await x",
    "await x", "yield", "return 1", "\x00", "\ufeff", "\u2028", "\ud83d", "\x0c", "\r", "０ = 1", "9" * 5000,
    "(" * 300, "-" * 3000 + "1", ">>> x = 1", "[x for x in x]", "{**x}", "f'{x!r:{x}}'", "(x := 1)",
    "x = y = x", "print(x)", "raise NotImplementedError", "nonlocal x", "*x, = y", "x.y.z = 1", "del x[0]",
    "type X = int", "if True:", "    pass", "%time x = 1", "# 💥",
)  # fmt: skip


def damaged(book: dict, draw: random.Random) -> bytes:
    """The bytes of a notebook with one to four damages."""
    book = json.loads(json.dumps(book))
    for _ in range(draw.randint(1, 4)):
        draw.choice(DAMAGES)(book, draw)
    data = json.dumps(book, ensure_ascii=draw.random() < 0.5).encode(errors="surrogatepass")
    return draw.choice(ENCODINGS)(data, draw) if draw.random() < 0.2 else data


def _value(draw: random.Random) -> object:
    """One of the values, copied: the next damage may change it in place."""
    return copy.deepcopy(draw.choice(VALUES))


def _replace_a_value(book: dict, draw: random.Random) -> None:
    place: object = book
    while isinstance(place, dict | list) and place:
        key = draw.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if not isinstance(place[key], dict | list) or draw.random() < 0.3:
            place[key] = _value(draw)
            return
        place = place[key]


def _drop_a_field(book: dict, draw: random.Random) -> None:
    place = draw.choice([book, *_cells(book)])
    if place:
        del place[draw.choice(list(place))]


def _old_format(book: dict, draw: random.Random) -> None:
    listed = [{**cell, "input": cell.get("source", "")} for cell in _cells(book)]
    sheets = [{"cells": listed}, {"cells": _value(draw)}, _value(draw)]
    book["worksheets"] = draw.choice([sheets, sheets[1:], _value(draw)])
    book.pop("cells", None)


def _nest(book: dict, draw: random.Random) -> None:
    deep: object = []
    for _ in range(draw.choice((10, 100, 900))):
        deep = [deep] if draw.random() < 0.5 else {"cells": deep}
    draw.choice([book, *_cells(book)])[draw.choice(("source", "cells", "metadata", "outputs"))] = deep


def _order(book: dict, draw: random.Random) -> None:
    if isinstance(book.get("cells"), list):
        draw.choice((draw.shuffle, list.reverse, lambda listed: listed.extend(listed[:5])))(book["cells"])


def _metadata(book: dict, draw: random.Random) -> None:
    draw.choice([book, *_cells(book)])[
        draw.choice(("metadata", "nbformat", "cell_type", "id", "outputs"))
    ] = _value(draw)


def _source(book: dict, draw: random.Random) -> None:
    """Damage to the text of one cell: a line put in, taken out, cut, indented or repeated."""
    cell = draw.choice([*_cells(book), {}])
    source = cell.get("source")
    text = "".join(part for part in source if isinstance(part, str)) if isinstance(source, list) else source
    if not isinstance(text, str):
        return
    lines = text.split("\n")
    at = draw.randrange(len(lines) + 1)
    match draw.randrange(6):
        case 0 | 1:
            lines.insert(at, draw.choice(LINES))
        case 2:
            del lines[at : at + draw.randint(1, 3)]
        case 3:
            lines[at : at + 1] = [line[: draw.randint(0, len(line))] for line in lines[at : at + 1]]
        case 4:
            lines = [draw.choice(("    ", "\t", ">>> ")) + line for line in lines]
        case 5:
            lines *= draw.choice((2, 20))
    cell["source"] = "\n".join(lines) if draw.random() < 0.5 else [line + "\n" for line in lines]


def _cells(book: dict) -> list[dict]:
    listed = book.get("cells")
    return [cell for cell in listed if isinstance(cell, dict)] if isinstance(listed, list) else []


def _flip(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.randint(1, 5)):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data))]


def _recode(data: bytes, draw: random.Random) -> bytes:
    return data.decode(errors="replace").encode(draw.choice(("utf-16", "utf-8-sig", "utf-32")), "replace")


DAMAGES = (
    _replace_a_value, _drop_a_field, _old_format, _nest, _order, _metadata, *[_source] * 5,
)  # fmt: skip
ENCODINGS: tuple[Callable, ...] = (_flip, _flip, _cut, _recode)


def books() -> list[tuple[str, dict]]:
    """(lesson, notebook) of every exercise sheet and solution."""
    paths = [
        (u, sandbox.CHECKOUT / folder / f"{n}.ipynb")
        for u, n in checks.LESSONS.items()
        for folder in ("exercises", "solutions")
    ]
    return [(lesson, json.loads(path.read_text(encoding="utf-8"))) for lesson, path in paths]


def fuzz(count: int, seed: int = 0, every: int = GRADED) -> tuple[Counter, list[str]]:
    """(what happened how often, a text for each traceback) for `count` damaged notebooks."""
    originals, tally, faults = books(), Counter(), []
    box = sandbox.choose()
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        lesson, book = draw.choice(originals)
        data = damaged(book, draw)
        try:
            tally.update(_follow(data, lesson, box, tally, every))
        except Exception:
            faults.append(f"notebook {number} of seed {seed}:\n{traceback.format_exc()}")
    return tally, faults


def _follow(data: bytes, lesson: str, box: sandbox.Sandbox, tally: Counter, every: int) -> Counter:
    """One notebook on the way that `rnnlab grade` goes."""
    path = Path(f"{checks.LESSONS[lesson]}.ipynb")
    seen = Counter()
    try:
        notebook = Notebook(cells(data.decode("utf-8-sig"), path))
        lesson = lesson_of(path, notebook.names)
    except (Unusable, UnicodeDecodeError):
        return Counter(unusable=1)
    for exercise in checks.exercises(lesson):
        seen["answers sliced"] += 1
        try:
            notebook.answer(exercise.name, exercise.is_kernel).packed()
        except Stopped:
            continue
        seen["answers to run"] += 1
        if (tally["answers to run"] + seen["answers to run"]) % every == 0 and exercise.seconds <= LARGEST:
            seen["answers graded"] += 1
            grade_one(exercise, notebook, 1, box)
    return seen + Counter(read=1)


def main(count: int, seed: int = 0) -> int:
    """Print what happened in one line, each traceback in full; 3 if there was one."""
    tally, faults = fuzz(count, seed)
    print(*faults, sep="\n", end="\n" if faults else "")
    counts = ", ".join(f"{number:,} {what}" for what, number in sorted(tally.items()))
    print(f"{count:,} damaged notebooks (seed {seed}): {counts}, {len(faults)} tracebacks")
    return 3 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
