"""The attacks and faults that grading is held against: tests/attacks, one file a kind, as a table and as they
happen here.

A cell `# %% [attack] name` is one attack. Its source is the cell behind what stands before the file's first
cell. It answers the exercise of the course that it defines, or the one in demo.py. The first comment says
what it does; `deserves:` is the status that it must get if that is not `failed`, `plain:` what happens
without bubblewrap where that is something else, and why; `after:` an attack that is graded just before;
`seconds:` its time limit. Without it, what answers demo.py and ends in no timeout gets PATIENT; the rest,
its exercise's.
Attacks that are files, options and folders, and not answers, are the functions in NO_ANSWERS. The page
in docs/ is this table.

python tests/attacks_table.py > docs/attacks.md   writes the page
python tests/attacks_table.py --run               makes every attack now, on this machine
python tests/attacks_table.py --run MODE          only in plain mode, or only under bubblewrap
python tests/attacks_table.py NAME MODE           makes one
"""

import inspect
import os
import re
import runpy
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
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
from nbjudge.running.family import Family, adopt_orphans
from nbjudge.running.sandbox import CHECKOUT, Sandbox, choose
from nbjudge.running.worker import of_source
from nbjudge.verdict import Verdict

FOLDER = CHECKOUT / "tests" / "attacks"
KILLED = "killed"  # the judge itself: no status, the grade is lost
MODES = "plain", "bubblewrap"
WHOLE_RUN = "2026-11-27"  # to be changed when all attacks have been made in both modes again
INTRODUCTION = """# What grading withstands

Made by `python tests/attacks_table.py > docs/attacks.md`; a test holds the page to the files. ✔: the
verdict is what the code deserves, and the next answer is graded as if nothing had happened. ✘: it is not, and
why.

COUNTS
Each attack is one cell in `tests/attacks`. **bubblewrap** is the mode to grade a class in; **plain** is
what is left where bubblewrap is not installed or not allowed. In plain mode an answer that goes around
Python has the rights of whoever grades: it may also read and write the judge's memory, or wait for the next
answer in a file that it changed. On Linux it may open no socket and signal no other process even so. The
guard against reading the course's files follows a path by its name; a path below an open folder, and
whatever does not ask Python, goes around it.

What holds by construction, in kernel exercises: the judge chooses functions and constants from the answer's
text. Constants that are no literals are computed in one process, and come back as numbers, tuples of numbers
or arrays of numbers, which are then read-only. Another process, in which no statement of the submission runs,
builds the functions without decorators and annotations, takes default values from those constants, launches
and counts. What holds by a list: the body of a kernel runs there, so it may hold only the nodes of Python's
syntax tree, the names and the attributes that a table names; a test puts code into each field of each node.
In plain mode the first process may still disturb the second from outside, as any process of the user can.

What rests on honesty, in both modes: a check counts the calls that it hands out and sees their arguments, and
does not see NumPy at work beside them. An answer of `bptt_linear` may do a quadratic sweep of its own beside
the T right calls. A kernel of `flag_barrier` that waits as it should may multiply the row that it reads by
zero, because its own number tells the mean. In `train_filter` the check sees where each call is made, not how
the way from one to the next was found. A straight line to the weights of a least-squares fit fails, because
one case's gradients are for targets times a number that is not shown; an answer that finds this number from a
loss passes. The report shows the teacher every line that looks into such objects; nobody but a reader sees
the rest.
"""
COUNTS = """There are {answers} attacks by answers and {around} by files, options and folders. Of the answers,
{bubblewrap} are withstood under bubblewrap and {plain} in plain mode. `python tests/attacks_table.py --run`
makes all of both kinds in both modes; on {when} each that was there then ended as it stands here; what was
added since, the tests have made, as of 2026-11-28. They make every answer
under bubblewrap, and in plain mode those that are not withstood and every third of the others; of files,
options and folders every fifth, in both modes.
"""
SURROUNDINGS = """
## Files, options and folders

Attacks on `rnnlab grade` by what stands around a right answer of one point. Each is a function of
`tests/attacks/surroundings.py` or `notebook_files.py`. *refused*: one sentence and exit status 2,
before anything is graded.
"""
NO_ANSWERS = "surroundings", "notebook_files"
HANGS = 600.0  # seconds of the clock after which a judge is given up: a busy machine lends few of them
PATIENT = 10.0  # seconds: a machine may be slow, and not for want of a core alone
CELL = re.compile(r"^# %% \[attack\] (\w+)\n", re.M)
DEFINED = re.compile(r"^(?:(?:async )?def |class )?(\w+)(?= =|: \w+ =|[(:])", re.M)  # names of the whole cell


@dataclass(frozen=True)
class Attack:
    """One cell of the corpus."""

    name: str
    source: str
    deed: str  # what it does, one sentence
    outcomes: Mapping[str, str]  # by mode: the status that it gets, or KILLED
    deserves: str
    why: str  # why plain mode gives something else
    seconds: float  # time limit; 0: the exercise's own
    exercise: str  # the course's exercise that it answers; empty: the one in demo.py
    after: str  # the attack that is graded before it; empty: none

    def withstood(self, mode: str) -> bool:
        """Is the outcome what the code deserves, or a status that gives it no more?"""
        outcome = self.outcomes[mode]
        return outcome == self.deserves or (outcome != KILLED and "passed" not in (outcome, self.deserves))


def attacks() -> list[Attack]:
    """The corpus, in the order of names."""
    files = [path for path in FOLDER.glob("*.py") if path.stem not in ("demo", *NO_ANSWERS)]
    return sorted((attack for path in files for attack in _attacks_in(path)), key=lambda attack: attack.name)


def page() -> str:
    """The table as Markdown."""
    answers = [*map(_row, attacks())]
    head = ["| attack or fault | what it does | deserves | bubblewrap | plain |", "|---|---|---|---|---|"]
    introduction = INTRODUCTION.replace("COUNTS", _counts())
    around = [f"| {name.replace('_', ' ')} | {deed} | {wanted} |" for name, deed, wanted in surroundings()]
    second = [SURROUNDINGS, "| attack or fault | what it does | outcome in both modes |", "|---|---|---|"]
    return "\n".join([introduction, *head, *answers, *second, *around, ""])


def _counts() -> str:
    """How many attacks there are, what becomes of them, and what was run."""
    withstood = {mode: sum(attack.withstood(mode) for attack in attacks()) for mode in MODES}
    return COUNTS.format(answers=len(attacks()), around=len(surroundings()), when=WHOLE_RUN, **withstood)


def perform(attack: Attack, box: Sandbox, places: Mapping[str, str], seed: int = 0) -> Verdict:
    """The verdict that an attack gets here. `places` are the paths that it may know, by their @NAME@."""
    if attack.after:
        before = perform(_named(attack.after), box, places, seed)
        assert before.status == _named(attack.after).outcomes[box.name], before
    source = attack.source
    for name, place in places.items():
        source = source.replace(f"@{name}@", place)
    target = current().find(attack.exercise)[1] if attack.exercise else exercise()
    target = replace(target, seconds=attack.seconds) if attack.seconds else target
    return judge_apart(target, of_source(target.name, source), seed, box)


def perform_apart(attack: Attack, mode: str) -> str:
    """The same from a judge in a process of its own, which an attack may kill, and with it whatever would
    have ended the attack's processes."""
    command = [sys.executable, "-P", __file__, attack.name, mode]
    adopt_orphans(True)
    family = Family()
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=HANGS)
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        family.end()
        adopt_orphans(False)
    print(ended.stderr, file=sys.stderr)  # why: shown where a test fails
    return ended.stdout.strip() or ended.stderr[-500:] if ended.returncode >= 0 else KILLED


def perform_all(mode: str) -> Iterator[tuple[str, str, str, bool]]:
    """(name, outcome, the outcome that its file says, is that one withstood) of every attack, one by one."""
    for attack in attacks():
        yield attack.name, perform_apart(attack, mode), attack.outcomes[mode], attack.withstood(mode)
    for name, _, wanted in surroundings():
        yield name, surround(name, mode), wanted, True


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
    """[(name, deed, outcome that it must have), ...] of the attacks that are no answers."""
    rows = []
    for name, function in _surroundings().items():
        deed, _, rest = inspect.cleandoc(function.__doc__).partition("\n\n")
        rows.append((name, deed, rest.removeprefix("outcome: ") or "refused"))
    return rows


def surround(name: str, mode: str) -> str:
    """The outcome of one of them: refused, the points, or the fault by name."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = _surroundings()[name](Path(folder))
        kinds = {path: path.lstat().st_mode for path in Path(folder).iterdir()}
        command = [sys.executable, "-P", "-m", "rnncourse.cli", *arguments]
        if arguments[0] == "grade" and mode == "plain":
            command.append("--plain")
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
    functions = {}
    for file in NO_ANSWERS:
        functions |= runpy.run_path(str(FOLDER / f"{file}.py"))
    return {n: f for n, f in functions.items() if inspect.isfunction(f) and n[0] != "_"}


def _attacks_in(path: Path) -> Iterator[Attack]:
    shared, *parts = CELL.split(path.read_text(encoding="utf-8"))
    course = {name for lesson in current().lessons for name in current().catalogue(lesson)}
    for name, cell in zip(parts[::2], parts[1::2], strict=True):
        comments = re.match(r"(?:# .*\n)+", cell)[0].replace("# ", "", 1).replace("\n# ", "\n")
        deed, _, rest = comments.partition("\n")
        fields = dict(re.findall(r"^(\w+): (.*)$", rest, re.M))
        of_course = next(iter(course.intersection(DEFINED.findall(cell))), "")
        deserves = fields.get("deserves", "failed")
        plain, _, why = fields.get("plain", deserves).partition(", because ")
        yield Attack(
            name,
            f"{shared}{cell}",
            deed,
            {"plain": plain, "bubblewrap": deserves},
            deserves,
            why,
            float(fields.get("seconds", 0 if of_course or "timeout" in (plain, deserves) else PATIENT)),
            of_course,
            fields.get("after", ""),
        )


def _named(name: str) -> Attack:
    return next(attack for attack in attacks() if attack.name == name)


def _row(attack: Attack) -> str:
    signs = {mode: "✔" if attack.withstood(mode) else "✘" for mode in MODES}
    cells = [f"{signs[mode]} {attack.outcomes[mode].replace('_', ' ')}" for mode in reversed(MODES)]
    cells[1] += f": {attack.why}" if attack.why else ""
    name, deserves = (text.replace("_", " ") for text in (attack.name, attack.deserves))
    return f"| {name} | {attack.deed} | {deserves} | {' | '.join(cells)} |"


def run_all(modes: tuple[str, ...] = MODES) -> int:
    """Make every attack in each of these modes that works here; 1 if an outcome is not what its file says."""
    otherwise = 0
    for mode in modes:
        if (box := choose(mode == "plain")).name != mode:
            print(f"{mode}: not tried, because {box.why}")
            continue
        for name, outcome, wanted, is_withstood in perform_all(mode):
            otherwise += outcome != wanted
            remark = "" if outcome == wanted else f" (its file says {wanted})"
            sign = "✔" if outcome == wanted and is_withstood else "✘"
            print(f"{sign} {mode} · {name.replace('_', ' ')} · {printable(outcome)}{remark}", flush=True)
    print(f"{otherwise} ended otherwise than their files say.")
    return int(otherwise > 0)


def main(arguments: list[str]) -> int:
    """The page, all attacks, or one of them in one mode."""
    if not arguments:
        print(page(), end="")
        return 0
    if arguments[0] == "--run":
        with clean_start():
            return run_all(tuple(arguments[1:]) or MODES)
    if len(arguments) != 2 or arguments[1] not in MODES:
        print(__doc__)
        return 2
    name, mode = arguments
    with places() as known:
        verdict = perform(_named(name), choose(plain=mode == "plain"), known)
    print(verdict.status)
    print(verdict.message, file=sys.stderr)
    return 0


if __name__ == "__main__":
    choose_course("rnncourse.course:COURSE")
    sys.exit(main(sys.argv[1:]))
