"""The attacks and faults that grading is held against: tests/attacks, one file each, as a table and as they
happen here.

The first line of a file says what it does; `deserves:` is the status that it must get, `plain:` what happens
without bubblewrap where that is something else, and why. Tests hold every line of it; the page in docs/ is
this table.
"""

import ast
import re
import runpy
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rnnlab.grading import progress_file
from rnnlab.grading.exercise import Exercise
from rnnlab.grading.grade import judge_apart
from rnnlab.grading.reading import Unusable
from rnnlab.grading.sandbox import CHECKOUT, Sandbox, choose
from rnnlab.grading.worker import of_source

FOLDER = CHECKOUT / "tests" / "attacks"
KILLED = "killed"  # the judge itself: no status, the grade is lost
MODES = "plain", "bubblewrap"
INTRODUCTION = """# What grading withstands

Made by `rnnlab attacks > docs/attacks.md`; the tests hold every line. ✔: the verdict is what the code
deserves, and the next answer is graded as if nothing had happened. ✘: it is not, and why.

Each attack is one small file in `tests/attacks`. **bubblewrap** is the mode to grade a class in; **plain** is
what is left where bubblewrap is not installed or not allowed. In plain mode an answer that goes around Python
has the rights of whoever grades: it may also read the judge's memory, or wait for the next answer in a file
that it changed.
"""


@dataclass(frozen=True)
class Attack:
    """One file of the corpus."""

    path: Path
    deed: str  # what it does, one sentence
    outcomes: Mapping[str, str]  # by mode: the status that it gets, or KILLED
    deserves: str
    why: str  # why plain mode gives something else
    seconds: float  # time limit, where the exercise's own is too short for the deed, else 0

    @property
    def name(self) -> str:
        return self.path.stem

    def withstood(self, mode: str) -> bool:
        """Is the outcome what the code deserves, or a status that gives it no more?"""
        outcome = self.outcomes[mode]
        return outcome == self.deserves or (outcome != KILLED and "passed" not in (outcome, self.deserves))


def attacks() -> list[Attack]:
    """The corpus, in the order of its files' names."""
    if not FOLDER.is_dir():
        raise Unusable(
            "the attacks stand in tests/attacks of the course's own folder, which is not installed here"
        )
    return [_parsed(path) for path in sorted(FOLDER.glob("*.py")) if path.stem not in ("demo", "notebooks")]


def page() -> str:
    """The table as Markdown."""
    head = ["| attack or fault | what it does | deserves | bubblewrap | plain |", "|---|---|---|---|---|"]
    return "\n".join([INTRODUCTION, *head, *map(_row, attacks()), ""])


def perform(attack: Attack, box: Sandbox, places: Mapping[str, str], seed: int = 0) -> str:
    """The status that an attack gets here. `places` are the paths that it may know, by their @NAME@."""
    source = attack.path.read_text(encoding="utf-8")
    for name, place in places.items():
        source = source.replace(f"@{name}@", place)
    target = replace(exercise(), seconds=attack.seconds) if attack.seconds else exercise()
    return judge_apart(target, of_source(target.name, source), seed, box).status


def perform_apart(attack: Attack, mode: str) -> str:
    """The same from a judge in a process of its own, which an attack may kill."""
    command = [sys.executable, "-P", "-m", "rnnlab.grading.attacks", str(attack.path), mode]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return KILLED if ended.returncode < 0 else ended.stdout.strip() or ended.stderr[-500:]


def exercise() -> Exercise:
    """What the attacks are made on."""
    return runpy.run_path(str(FOLDER / "demo.py"))["EXERCISE"]


@contextmanager
def places() -> Iterator[dict[str, str]]:
    """What an attacker may find on a teacher's machine: a file, a report to come, a server that answers."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        (Path(folder) / "notes.txt").write_text("marks of all the others", encoding="utf-8")
        known = {"CHECKOUT": str(CHECKOUT), "HOME": folder, "REPORT": f"{folder}/report.json"}
        known["PROGRESS"] = str(progress_file.home() / "progress.sqlite")
        yield known | {"PORT": str(server.getsockname()[1])}


def _parsed(path: Path) -> Attack:
    words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    deed, _, rest = words.partition("\n\n")
    fields = dict(re.findall(r"^(\w+): (.*)$", rest, re.M))
    plain, _, why = fields.get("plain", fields["deserves"]).partition(", because ")
    return Attack(
        path,
        deed,
        {"plain": plain, "bubblewrap": fields["deserves"]},
        fields["deserves"],
        why,
        float(fields.get("seconds", 0)),
    )


def _row(attack: Attack) -> str:
    signs = {mode: "✔" if attack.withstood(mode) else "✘" for mode in MODES}
    cells = [f"{signs[mode]} {attack.outcomes[mode].replace('_', ' ')}" for mode in reversed(MODES)]
    cells[1] += f": {attack.why}" if attack.why else ""
    name, deserves = (text.replace("_", " ") for text in (attack.name, attack.deserves))
    return f"| {name} | {attack.deed} | {deserves} | {' | '.join(cells)} |"


if __name__ == "__main__":
    chosen = {attack.path: attack for attack in attacks()}[Path(sys.argv[1])]
    with places() as known:
        print(perform(chosen, choose(plain=sys.argv[2] == "plain"), known))
