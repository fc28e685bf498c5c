"""The attacks and faults that grading is held against: tests/attacks, one file a kind, as a table and as they
happen here, under bubblewrap.

A cell `# %% [attack] name` is one attack. Its source is the cell behind what stands before the file's first
cell. It answers the exercise of the course that it defines, or the one in demo.py. The first comment says
what it does; `deserves:` is the status that it must get if that is not `failed`; `after:` an attack that is
graded just before; `seconds:` its time limit. Without it, what answers demo.py and ends in no timeout gets
PATIENT; the rest, its exercise's.
Attacks that are files, options and folders, and not answers, are the functions in NO_ANSWERS. The page
in docs/ counts them.

python tests/attacks_table.py --page              writes the numbers and tables of docs/attacks.md
python tests/attacks_table.py --run               makes every attack now, on this machine
python tests/attacks_table.py NAME [plain]        makes one, and in plain mode
"""

import ast
import inspect
import os
import re
import runpy
import socket
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from nbjudge import progress_file
from nbjudge.course import choose as choose_course
from nbjudge.course import current
from nbjudge.exercise import Exercise
from nbjudge.grading.clean_start import clean_start
from nbjudge.grading.grade import judge_apart
from nbjudge.printable import printable
from nbjudge.running.learner_answer import of_source
from nbjudge.running.sandbox import CHECKOUT, Sandbox, choose
from nbjudge.verdict import Verdict

FOLDER = CHECKOUT / "tests" / "attacks"
PAGE = CHECKOUT / "docs" / "attacks.md"
NUMBERS = "Each of the {} attacks by answers and {} by files"
NO_ANSWERS = "surroundings", "notebook_files"
HANGS = 600.0  # seconds of the clock after which a judge is given up: a busy machine is slow
PATIENT = 10.0  # seconds: a machine may be slow, and not for want of a core alone
CELL = re.compile(r"^# %% \[attack\] (\w+)\n", re.M)
DEFINED = re.compile(r"^(?:(?:async )?def |class )?(\w+)(?= =|: \w+ =|[(:])", re.M)  # names of the whole cell


@dataclass(frozen=True)
class Attack:
    """One cell of the corpus."""

    name: str
    kind: str  # the file it stands in
    source: str
    deed: str  # what it does, one sentence
    deserves: str  # the status that it must get
    seconds: float  # time limit; 0: the exercise's own
    exercise: str  # the course's exercise that it answers; empty: the one in demo.py
    after: str  # the attack that is graded before it; empty: none


def attacks() -> list[Attack]:
    """The corpus, in the order of names."""
    files = [path for path in FOLDER.glob("*.py") if path.stem not in ("demo", *NO_ANSWERS)]
    return sorted((attack for path in files for attack in _attacks_in(path)), key=lambda attack: attack.name)


def page() -> str:
    """The page, with its numbers and a row for each file as they are now."""
    tried = [attack for attack in attacks() if attack.name != "honest"]
    answers = _rows((attack.kind, attack.deserves) for attack in tried)
    around = _rows((_surroundings()[name].kind, outcome) for name, _, outcome in surroundings())
    numbers = NUMBERS.format(len(tried), len(surroundings()))
    text = re.sub(NUMBERS.format(r"\d+", r"\d+"), numbers, PAGE.read_text(encoding="utf-8"))
    rows = iter((answers, around))
    return re.sub(r"(?<=\|---\|---\|---\|---\|\n)(\|.*\n)*", lambda table: next(rows), text)


def _rows(outcomes: Iterable[tuple[str, str]]) -> str:
    """A line for each file: its attacks, its docstring, and the outcomes wanted, most frequent first."""
    files = defaultdict(Counter)
    for file, outcome in outcomes:
        files[file][outcome.replace("_", " ")] += 1
    lines = []
    for file, counts in sorted(files.items()):
        text = ast.get_docstring(ast.parse((FOLDER / f"{file}.py").read_text(encoding="utf-8")))
        sentence = " ".join(text.split("\n\n")[0].split()).partition(". ")[0].removesuffix(".")
        sentence = sentence.removeprefix("Answers that ")
        wanted = ", ".join(outcome for outcome, _ in counts.most_common())
        lines.append(f"| {file} | {counts.total()} | {sentence} | {wanted} |\n")
    return "".join(lines)


def perform(attack: Attack, box: Sandbox, places: Mapping[str, str], seed: int = 0) -> Verdict:
    """The verdict that an attack gets here. `places` are the paths that it may know, by their @NAME@."""
    if attack.after:
        before = perform(_named(attack.after), box, places, seed)
        assert before.status == _named(attack.after).deserves, before
    source = attack.source
    for name, place in places.items():
        source = source.replace(f"@{name}@", place)
    target = current().find(attack.exercise)[1] if attack.exercise else exercise()
    target = replace(target, seconds=attack.seconds) if attack.seconds else target
    return judge_apart(target, of_source(target.name, source), seed, box)


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


def surroundings() -> list[tuple[str, str, str]]:
    """[(name, deed, outcome that it must have), ...] of the attacks that are not answers."""
    rows = []
    for name, function in _surroundings().items():
        deed, _, rest = inspect.cleandoc(function.__doc__).partition("\n\n")
        rows.append((name, deed, rest.removeprefix("outcome: ") or "refused"))
    return rows


def surround(name: str) -> str:
    """The outcome of one of them: refused, the points, or the fault by name."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = _surroundings()[name](Path(folder))
        kinds = {path: path.lstat().st_mode for path in Path(folder).iterdir()}
        command = [sys.executable, "-P", "-m", "rnncourse.cli", *arguments]
        environment = os.environ | {"RNNLAB_HOME": f"{folder}/home"}
        try:
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=HANGS)
        except subprocess.TimeoutExpired:
            return "hangs"
        if any(path.lstat().st_mode != kind for path, kind in kinds.items()):
            return "replaces a file"
        return "runs code" if (Path(folder) / "ran").exists() else _outcome(done)


def _outcome(done: subprocess.CompletedProcess) -> str:
    """What a command has done, from its status and its words."""
    shown, error = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    if "Traceback" in error:
        return "traceback"
    if any(printable(character) != character for character in {*shown, *error} - {"\n"}):
        return "raw escapes"
    if done.returncode == 2:
        return "refused"
    every = sum(sum(current().catalogue(lesson).values()) for lesson in current().lessons)
    points = re.findall(
        r"(\d+ of (?:\d+|all)) points", shown.replace(f" of {every} points", " of all points")
    )
    return f"{points[-1]} points" if points and done.returncode != 3 else f"status {done.returncode}"


def _surroundings() -> dict[str, Callable[[Path], list[str]]]:
    chosen = {}
    for file in NO_ANSWERS:
        for name, function in runpy.run_path(str(FOLDER / f"{file}.py")).items():
            if inspect.isfunction(function) and name[0] != "_":
                function.kind = file
                chosen[name] = function
    return chosen


def _attacks_in(path: Path) -> Iterator[Attack]:
    shared, *parts = CELL.split(path.read_text(encoding="utf-8"))
    course = {name for lesson in current().lessons for name in current().catalogue(lesson)}
    for name, cell in zip(parts[::2], parts[1::2], strict=True):
        comments = re.match(r"(?:# .*\n)+", cell)[0].replace("# ", "", 1).replace("\n# ", "\n")
        deed, _, rest = comments.partition("\n")
        fields = dict(re.findall(r"^(\w+): (.*)$", rest, re.M))
        of_course = next(iter(course.intersection(DEFINED.findall(cell))), "")
        deserves = fields.get("deserves", "failed")
        patience = 0 if of_course or deserves == "timeout" else PATIENT
        seconds = float(fields.get("seconds", patience))
        after = fields.get("after", "")
        yield Attack(name, path.stem, f"{shared}{cell}", deed, deserves, seconds, of_course, after)


def _named(name: str) -> Attack:
    return next(attack for attack in attacks() if attack.name == name)


def run_all() -> int:
    """Make every attack; 1 if an outcome is not what its file says, 2 where bubblewrap does not work."""
    if (box := choose()).name == "plain":
        print(f"not tried: {box.why}", file=sys.stderr)
        return 2
    otherwise = 0
    with places() as known:
        results = ((attack.name, perform(attack, box, known).status, attack.deserves) for attack in attacks())
        for name, outcome, wanted in results:
            otherwise += _is_shown_wrong(name, outcome, wanted)
    for name, _, wanted in surroundings():
        otherwise += _is_shown_wrong(name, surround(name), wanted)
    print(f"{otherwise} ended otherwise than their files say.")
    return int(otherwise > 0)


def _is_shown_wrong(name: str, outcome: str, wanted: str) -> bool:
    remark = "" if outcome == wanted else f" (its file says {wanted})"
    sign = "✘" if remark else "✔"
    print(f"{sign} {name.replace('_', ' ')} · {printable(outcome)}{remark}", flush=True)
    return bool(remark)


def main(arguments: list[str]) -> int:
    """The page, all attacks, or one of them."""
    if arguments == ["--page"]:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if arguments[0] == "--run":
        with clean_start():
            return run_all()
    name, *mode = arguments
    with places() as known:
        verdict = perform(_named(name), choose(plain=mode == ["plain"]), known)
    print(verdict.status)
    print(verdict.message, file=sys.stderr)
    return 0


if __name__ == "__main__":
    choose_course("rnncourse.course:COURSE")
    sys.exit(main(sys.argv[1:]))
