"""Board: a folder of programs, one a pseudonym, each of which is scored again whenever the board is shown.

A program is a file PSEUDONYM.py with a function `my_schedule`; those of the course are packed with its
answers.  A program runs in a worker, as grading runs an answer.  No score is stored: the table is derived.
"""

import ast
import os
import re
from pathlib import Path
from typing import NamedTuple

from nbjudge import course
from nbjudge.files import write_whole
from nbjudge.finding.notebook import Notebook
from nbjudge.printable import printable
from nbjudge.running.learner_answer import LearnerAnswer, of_source
from nbjudge.running.sandbox import Sandbox, choose
from nbjudge.running.worker import Worker
from nbjudge.verdict import Stopped
from rnncourse.capstone.launches import Illegal
from rnncourse.capstone.score import FULL_MARKS, PROBLEMS, score_all

FUNCTION = "my_schedule"
FILE = "board.txt"
OWN = Path(__file__).with_name(FILE)  # the table of the course's own programs
SECONDS = 60.0  # for the program, in all problems together
MOST_BYTES = 1 << 20  # of a program
PSEUDONYM = re.compile(r"\w[\w .-]{0,39}")


class BoardEntry(NamedTuple):
    """Scores of one program: worst ratio to the lower bound, most bytes saved, ratio of each problem."""

    name: str
    worst: float
    saved_bytes: int
    ratios: tuple[float, ...]

    @property
    def place(self) -> tuple:
        """Sort key: the worst ratio to two decimals, then the bytes."""
        return round(self.worst, 2), self.saved_bytes, self.name


class Unusable(ValueError):
    """A program that cannot be scored or added; the sentence says why."""


def program_of(answer: LearnerAnswer) -> str:
    """The statements that a notebook's answer needs, as one program."""
    lines = [ast.unparse(statement) + "\n" for *_, statement in answer.statements()]
    return "".join(lines)


def program_in(notebook: Path) -> str:
    """The program of a notebook's answer.  Raises Stopped if there is none."""
    return program_of(Notebook.read(notebook).answer(FUNCTION))


def make_entry(name: str, program: str, box: Sandbox) -> BoardEntry:
    """The scores of a program, which runs in a process of its own.  Raises Unusable."""
    try:
        with Worker(of_source(FUNCTION, program), SECONDS, box) as worker:
            scores = score_all(worker, PROBLEMS)
    except (Illegal, Stopped) as error:
        sentence = str(error).partition("\n")[0]
        raise Unusable(f"its schedule may not be scored: {sentence}") from None
    except SyntaxError as error:
        raise Unusable(f"its program is not valid Python: {error.msg}, line {error.lineno}") from None
    ratios = tuple(score.ratio for score in scores)
    saved_bytes = max(score.saved_bytes for score in scores)
    return BoardEntry(name, max(ratios), saved_bytes, ratios)


def add(folder: Path, name: str, program: str, box: Sandbox) -> bool:
    """Put a program on the board; does it take the place of an earlier one of this pseudonym?

    Raises Unusable.
    """
    if not PSEUDONYM.fullmatch(name):
        raise Unusable(
            f"the pseudonym is {name!r:.60}, expected 1 to 40 letters, digits, spaces, dots or dashes, "
            "the first a letter or a digit"
        )
    make_entry(name, program, box)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    replaces = path.exists()
    write_whole(path, program.encode())
    return replaces


def read(path: Path) -> str:
    """The program in a file.  Raises Unusable."""
    try:
        if not path.is_file() or os.path.getsize(path) > MOST_BYTES:
            raise Unusable(f"it is not a file of at most {MOST_BYTES >> 20} MiB")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"it cannot be read: {getattr(error, 'strerror', None) or 'no UTF-8 text'}") from None


def course_programs() -> dict[str, str]:
    """{pseudonym: program} of the course's own answers."""
    own = course.current().answers("capstone")[FUNCTION]
    sources = {"rnnlab best": own.right[-1], "rnnlab standard": own.source}
    return {name: f"{own.prelude}\n{source}" for name, source in sources.items()}


def table(entries: list[BoardEntry]) -> str:
    """The scores as text, best first."""
    lines = []
    for place, entry in enumerate(sorted(entries, key=lambda entry: entry.place), 1):
        mark = "" if entry.worst > FULL_MARKS else " ✔"
        saved = f"{entry.saved_bytes / 1e6:.1f} MB"
        name = printable(entry.name)
        ratios = ", ".join(f"{ratio:.2f}" for ratio in entry.ratios)
        lines.append(f"{place:3}  {entry.worst:.2f} times the bound{mark}, {saved}: {name}")
        lines.append(f"     each problem: {ratios}")
    last = f"✔ full marks: {FULL_MARKS:g} times the lower bound in the worst problem, or less"
    return "\n".join([*lines, last, ""])


def entries_of_course(box: Sandbox) -> list[BoardEntry]:
    """Scores of the course's own programs."""
    return [make_entry(name, program, box) for name, program in course_programs().items()]


if __name__ == "__main__":
    course.choose("rnncourse.course:COURSE")
    write_whole(OWN, table(entries_of_course(choose())).encode())
