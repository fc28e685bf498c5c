"""Board: one line of JSON per schedule, which anyone derives again from the schedule's own program.

A line has a pseudonym, the SHA-256 of the program, its scores and the version of the rules.  The program lies
beside the board as <first 16 digits>.py; those of the course are packed with its answers.  `derive` runs a
program in a worker, as grading runs an answer, and a line that says something else is left out with a reason.
"""

import ast
import hashlib
import json
import os
import re
from pathlib import Path
from typing import NamedTuple

from nbjudge import course
from nbjudge.files import write_whole
from nbjudge.running.sandbox import Sandbox, choose
from nbjudge.running.worker import LearnerAnswer, Worker, of_source
from nbjudge.verdict import Stopped
from rnncourse.capstone.launches import Illegal
from rnncourse.capstone.score import PROBLEMS, VERSION, Score, score_all

FUNCTION = "my_schedule"
FILE = "board.jsonl"
OWN = Path(__file__).with_name(FILE)  # the course's own entries
SECONDS = 60.0  # for the program, in all problems together
MOST_BYTES = 1 << 20  # of a board, and of a program
PSEUDONYM = re.compile(r"[\w .-]{1,40}")
DIGITS = 16  # of the hash, in the name of the program's file
LARGEST = 1 << 53  # of a number: a float64 may round larger integers; NaN fails this comparison, too
SAME = 1e-6  # relative difference of a time that is rounding
FIELDS = ("name", "schedule", "worst", "saved_bytes", "ratios", "version")


class Entry(NamedTuple):
    """One line: worst ratio to the lower bound, most bytes saved, and the ratio of each problem."""

    name: str
    schedule: str  # SHA-256 of the program
    worst: float
    saved_bytes: int
    ratios: tuple[float, ...]
    version: int = VERSION

    @property
    def place(self) -> tuple:
        """Sort key: the worst ratio to two decimals, then the bytes."""
        return round(self.worst, 2), self.saved_bytes, self.name

    def line(self) -> str:
        return json.dumps(self._asdict(), ensure_ascii=False)


class Unusable(ValueError):
    """A board, a line or a program that cannot be used; the sentence says why."""


def program_of(answer: LearnerAnswer) -> str:
    """The statements that a notebook's answer needs, as one program."""
    parts = [(ast.parse(source).body, chosen) for _, source, chosen in answer.cells]
    return "\n".join(ast.unparse(body[k]) for body, chosen in parts for k in chosen) + "\n"


def digest(program: str) -> str:
    return hashlib.sha256(program.encode()).hexdigest()


def make_entry(name: str, program: str, box: Sandbox) -> Entry:
    """The entry of a program under a pseudonym.  Raises Unusable where it may not be scored."""
    if not PSEUDONYM.fullmatch(name):
        raise Unusable(
            f"the pseudonym is {name!r:.60}, expected 1 to 40 letters, digits, spaces, dots or dashes"
        )
    scores = derive(program, box)
    ratios = tuple(score.ratio for score in scores)
    return Entry(name, digest(program), max(ratios), max(score.saved_bytes for score in scores), ratios)


def derive(program: str, box: Sandbox) -> list[Score]:
    """The program's scores for PROBLEMS; it runs in a process of its own.  Raises Unusable."""
    try:
        with Worker(of_source(FUNCTION, program), SECONDS, box) as worker:
            return score_all(worker, PROBLEMS)
    except (Illegal, Stopped) as error:
        sentence = str(error).partition("\n")[0]
        raise Unusable(f"its schedule may not be scored: {sentence}") from None
    except SyntaxError as error:
        raise Unusable(f"its program is not valid Python: {error.msg}, line {error.lineno}") from None


def add(folder: Path, entry: Entry, program: str) -> None:
    """Append the entry to the folder's board, with its program.  Raises Unusable if it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    text = _text(path) if path.exists() else ""
    pair = entry.name, entry.schedule
    if any((known.name, known.schedule) == pair for known in _known(text)):
        raise Unusable(f"{path} has this schedule of {entry.name} already")
    write_whole(folder / f"{entry.schedule[:DIGITS]}.py", program.encode())
    write_whole(path, f"{text}{entry.line()}\n".encode())


def read(path: Path) -> list[tuple[str, Entry | Unusable]]:
    """(where, entry or why there is none) for each line of a board.  Raises Unusable."""
    lines = enumerate(_text(path).splitlines(), 1)
    return [(f"{path.name} line {number}", _parsed(line)) for number, line in lines if line.strip()]


def check(entry: Entry | Unusable, folder: Path, box: Sandbox) -> None:
    """Derive the entry again.  Raises Unusable, naming the first field that differs."""
    if isinstance(entry, Unusable):
        raise entry
    if entry.version != VERSION:
        raise Unusable(f"its version is {entry.version}, the rules are at {VERSION}: add the schedule again")
    again = make_entry(entry.name, program(entry.schedule, folder), box)
    for field in ("ratios", "worst", "saved_bytes"):
        stated = getattr(entry, field)
        derived = getattr(again, field)
        if not _agree(stated, derived):
            raise Unusable(f"its {field} is {_short(stated)}, its schedule gives {_short(derived)}")


def course_programs() -> dict[str, str]:
    """{pseudonym: program} of the course's own answers."""
    own = course.current().answers("capstone")[FUNCTION]
    sources = {"rnnlab best": own.right[-1], "rnnlab standard": own.source}
    return {name: f"{own.prelude}\n{source}" for name, source in sources.items()}


def write_own(box: Sandbox) -> None:
    """Derive the course's own lines, and write them to OWN."""
    entries = [make_entry(name, program, box) for name, program in course_programs().items()]
    write_whole(OWN, "".join(f"{entry.line()}\n" for entry in entries).encode())


def program(schedule: str, folder: Path) -> str:
    """The program with that hash, from the board's folder or of the course.  Raises Unusable."""
    for program in course_programs().values():
        if digest(program) == schedule:
            return program
    path = folder / f"{schedule[:DIGITS]}.py"
    if not path.is_file():
        raise Unusable(f"its schedule {path.name} is missing")
    program = _text(path)
    if digest(program) != schedule:
        raise Unusable(f"its schedule {path.name} has another hash: the file was changed")
    return program


def _text(path: Path) -> str:
    """The text of a small file.  Raises Unusable."""
    try:
        if not path.is_file():
            raise Unusable(f"there is no file {path}")
        if os.path.getsize(path) > MOST_BYTES:
            raise Unusable(f"{path} is larger than {MOST_BYTES >> 20} MiB")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or 'no UTF-8 text'}"
        ) from None


def _known(text: str) -> list[Entry]:
    parsed = (_parsed(line) for line in text.splitlines() if line.strip())
    return [entry for entry in parsed if isinstance(entry, Entry)]


def _parsed(line: str) -> Entry | Unusable:
    """The entry of one line, or why there is none."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return Unusable("it is not JSON")
    if not isinstance(fields, dict) or set(fields) != set(FIELDS):
        return Unusable(f"it should have the fields {', '.join(FIELDS)}")

    def number(value):
        return type(value) in (int, float) and abs(value) <= LARGEST

    kinds = {
        "name": lambda value: isinstance(value, str) and PSEUDONYM.fullmatch(value),
        "schedule": lambda value: isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value),
        "ratios": lambda value: isinstance(value, list) and all(map(number, value)),
    }
    for field in FIELDS:
        if not kinds.get(field, number)(fields[field]):
            return Unusable(f"its {field} is {fields[field]!r:.60}")
    return Entry(**fields | {"ratios": tuple(fields["ratios"])})


def _agree(stated: object, derived: object) -> bool:
    if isinstance(derived, tuple):
        return len(stated) == len(derived) and all(map(_agree, stated, derived))
    return abs(stated - derived) <= SAME * abs(derived)


def _short(value: object) -> str:
    numbers = value if isinstance(value, tuple) else (value,)
    return ", ".join(f"{number:.8g}" for number in numbers)


if __name__ == "__main__":
    course.choose("rnncourse.course:COURSE")
    write_own(choose())
