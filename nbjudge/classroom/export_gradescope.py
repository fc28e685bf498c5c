"""Gradescope: an autograder to upload, and what it runs on Gradescope's machine.

    python -P -m nbjudge.classroom.export_gradescope LESSON FOLDER     in run_autograder

The zip holds the course's package and two scripts at its root. Its defaults fit Gradescope's own: Ubuntu
22.04, whose Python is too old, 768 MB of memory, half a core, ten minutes. results.json is written whatever
happens: without one, Gradescope shows a student nothing but an error.
"""

import hashlib
import json
import secrets
import stat
import sys
import time
import traceback
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from nbjudge.classroom import keys
from nbjudge.clock import Overtime
from nbjudge.course import current
from nbjudge.files import ROOT, write_whole
from nbjudge.finding.notebook import Notebook
from nbjudge.finding.notebook_file import Unusable
from nbjudge.grading.clean_start import clean_start
from nbjudge.grading.grade import as_variant, grade, lessons_in
from nbjudge.running import sandbox
from nbjudge.variants import describe_numbers
from nbjudge.verdict import Status, Stopped, Verdict

SLOWER = 3  # times an exercise's limit, on half a core that the judge uses, too
MOST_NOTEBOOKS = 100  # of a submission that are looked into
SHOWN = 5  # of these, if they are named
NOT_JUDGED = "Not judged: {}. This is not a fault of your answer."
OVER = "the platform's time for one submission was over"
AGAIN = "submit again, or ask your teacher"
SHARE = 0.55  # of the machine's memory, for an answer; the judge and Python need the rest
BUDGET = 540.0  # seconds of the ten minutes; the rest is for starting and for writing the results
FILES = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE")
SUFFIXES = {*".py .md .js .json .txt .npz .jpg .cu .cuh .html .answers .svg .h .toml".split()}
FOR_CHECKS = ("numba", "scipy")  # of the extra `lab`: what checks and answers import
PYTHON = "3.12"  # what uv installs; Ubuntu 22.04 has 3.10, the course needs 3.11
SETUP = f"""\
#!/usr/bin/env bash
# Runs once, when Gradescope builds the image. Ubuntu 22.04 brings Python 3.10, so uv installs {PYTHON}.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -yqq --no-install-recommends python3-pip python3-venv bubblewrap
python3 -m venv /opt/uv
/opt/uv/bin/pip install -q uv
export UV_PYTHON_INSTALL_DIR=/opt/python UV_LINK_MODE=copy UV_NO_CACHE=1
/opt/uv/bin/uv venv -q --python {PYTHON} --python-preference only-managed /opt/course
cd /autograder/source
/opt/uv/bin/uv pip install -q --python /opt/course/bin/python -c constraints.txt ./ {" ".join(FOR_CHECKS)}
/opt/course/bin/python -c 'import nbjudge.classroom.export_gradescope'
chmod -R o-rwx /autograder/source
"""
RUN = """\
#!/usr/bin/env bash
# Runs for each submission; grades lesson {lesson} and writes /autograder/results/results.json.
exec "${{NBJUDGE_PYTHON:-/opt/course/bin/python}}" -P -m nbjudge.classroom.export_gradescope \\
    {lesson} "${{AUTOGRADER:-/autograder}}"
"""


class Outcome(NamedTuple):
    """The verdicts on one submission, or the sentence that says why it was not graded."""

    verdicts: tuple[Verdict, ...]
    problem: str  # empty where the notebook was graded
    sandbox: str
    seconds: float
    variants: str = ""  # the sentence on exercises that the notebook has with numbers of its own

    @property
    def score(self) -> int:
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def faults(self) -> list[str]:
        """Exercises that were not judged, by no fault of the student."""
        return [verdict.name for verdict in self.verdicts if verdict.is_open]


def grade_folder(
    folder: Path, lesson: str, seed: Callable[[bytes], int], budget: float, now: Callable = time.monotonic
) -> Outcome:
    """Grade the one notebook of a lesson below a folder, within `budget` seconds.

    A variant is taken as the notebook's own `check` names it, for the class key is not here.
    seed: the seed for a notebook with these bytes.
    """
    start = now()
    box = fitting_box()

    def within_budget(exercise, notebook):
        exercise, numbers = as_variant(exercise, notebook)
        left = budget - (now() - start)
        if left < exercise.seconds + 1:
            raise Stopped(Status.grader_error, NOT_JUDGED.format(OVER), AGAIN)
        return replace(exercise, seconds=min(SLOWER * exercise.seconds, left)), numbers

    outcome = Outcome((), "", describe_sandbox(box), 0.0)
    try:
        path = notebook_in(folder.absolute(), lesson)
        with clean_start():
            chosen = seed(path.read_bytes())
            report = grade(path, seed=chosen, lesson=lesson, vary=within_budget, box=box)
    except Unusable as unusable:
        problem = str(unusable).replace(f"{folder.absolute()}/", "")
        return outcome._replace(problem=problem, seconds=now() - start)
    numbers = [f"{name} with {describe_numbers(known)}" for name, known in report.numbers.items()]
    taken = ""
    if numbers:
        taken = f"Taken as this notebook's checks name them: {'; '.join(numbers)}."
    return outcome._replace(verdicts=report.verdicts, variants=taken, seconds=now() - start)


def notebook_in(folder: Path, lesson: str) -> Path:
    """The notebook of the lesson in a submission. Raises Unusable unless it is exactly one."""
    books = [path for path in folder.rglob("*") if path.suffix.lower() == ".ipynb" and path.is_file()]
    hidden = [path for path in books if path.is_symlink() or ".ipynb_checkpoints" in path.parts]
    books = sorted({*books}.difference(hidden))[:MOST_NOTEBOOKS]
    if len(books) > 1:
        books = [path for path in books if _is_of(path, lesson)] or books
    if len(books) == 1:
        return books[0]
    stem = current().lessons[lesson]
    if not books:
        raise Unusable(f"The submission holds no notebook: hand in {stem}.ipynb.")
    names = [path.relative_to(folder).as_posix() for path in books]
    first = ", ".join(names[:SHOWN]) + (" …" if len(names) > SHOWN else "")
    raise Unusable(f"The submission holds {len(books)} notebooks ({first}): hand in {stem}.ipynb alone.")


def _is_of(path: Path, lesson: str) -> bool:
    with suppress(Unusable):
        return bool(lessons_in(Notebook.read(path).names, [lesson]))
    return False


def fitting_box() -> sandbox.Sandbox:
    """The sandbox that works here, with no more memory and time for an answer than the platform has."""
    box = sandbox.choose()
    return replace(box, memory=int(min(box.memory, SHARE * current().memory_limit())), patience=0)


def describe_sandbox(box: sandbox.Sandbox) -> str:
    """The sentence on where answers ran."""
    why = f", because {box.why}" if box.why else ""
    cores = current().usable_cores()
    return f"Answers ran in {box.name} mode{why}, each with {box.memory >> 20} MiB, on {cores} core(s)."


def autograder(lesson: str) -> bytes:
    """The zip that a teacher uploads as the autograder of one lesson.

    Raises Unusable where the course's own sources are not there.
    """
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        add(archive, "setup.sh", SETUP.encode(), executable=True)
        add(archive, "run_autograder", RUN.format(lesson=lesson).encode(), executable=True)
        add(archive, "seed.key", secrets.token_hex(32).encode())
        add_course(archive)
    return content.getvalue()


def add_course(archive: zipfile.ZipFile, root: Path = ROOT) -> None:
    """Put the sources that `pip install` needs into an archive. Raises Unusable where they are missing."""
    missing = [name for name in FILES if not (root / name).is_file()]
    if missing:
        raise Unusable(f"{root} has no {', '.join(missing)}: export from a clone of the course.")
    packages = (path for name in current().packages for path in sorted((root / name).rglob("*")))
    sources = (path for path in packages if path.suffix in SUFFIXES)
    for path in (*(root / name for name in FILES), *sources):
        if "__pycache__" not in path.parts:
            add(archive, path.relative_to(root).as_posix(), path.read_bytes())


def add(archive: zipfile.ZipFile, name: str, content: bytes, executable: bool = False) -> None:
    """Put one file into an archive, with the same bytes on every day."""
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def results_of(outcome: Outcome, lesson: str) -> dict:
    """The results as Gradescope reads them: one test for each exercise, without a score if it is not judged.

    Gradescope shows a sum in any case; where a part of it is missing, the first line says so.
    """
    points = current().catalogue(lesson)
    unread = (Verdict(name, Status.not_attempted, 0, points[name], "Not graded.") for name in points)
    verdicts = unread if outcome.problem else outcome.verdicts
    tests = [_test(number, verdict) for number, verdict in enumerate(verdicts, 1)]
    lines = [outcome.problem, outcome.variants, outcome.sandbox]
    if outcome.faults:
        missing = f"not judged, by no fault of yours: {', '.join(outcome.faults)}"
        lines.insert(0, f"These points are not final; {missing}. Submit again, or ask your teacher.")
    return {
        "score": outcome.score,
        "output": "\n".join(filter(None, lines)),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "execution_time": round(outcome.seconds, 1),
        "tests": tests,
    }


def _test(number: int, verdict: Verdict) -> dict:
    mark = {"score": verdict.points, "status": "passed" if verdict.points else "failed"}
    return {
        "name": verdict.name,
        "number": str(number),
        **({} if verdict.is_open else mark),
        "max_score": verdict.max_points,
        "output": "\n".join([verdict.headline(), *verdict.details()]),
        "visibility": "visible",
        "extra_data": {"verdict": str(verdict.status), "misconception": verdict.misconception},
    }


def main(arguments: list[str]) -> int:
    """Grade /autograder/submission, write /autograder/results/results.json; 0 once it is written."""
    lesson = arguments[0]
    folder = Path(arguments[1])
    try:
        outcome = _graded(lesson, folder)
    except (Exception, Overtime):  # whatever it is, the student must see that it is not theirs
        traceback.print_exc()  # standard output and error are shown to the teacher
        why = NOT_JUDGED.format("the grader failed")
        points = current().catalogue(lesson).items()
        faults = (Verdict(name, Status.grader_error, 0, most, why, None, AGAIN) for name, most in points)
        outcome = Outcome(tuple(faults), "", "", 0.0)
    (folder / "results").mkdir(exist_ok=True)
    write_whole(
        folder / "results" / "results.json",
        json.dumps(results_of(outcome, lesson), ensure_ascii=False).encode(),
    )
    return 0


def _graded(lesson: str, folder: Path) -> Outcome:
    """The verdicts; a student's notebook has one seed, whenever it is graded."""
    path = folder / "submission_metadata.json"  # missing where a teacher tries the zip in a container
    metadata = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    users = sorted(str(user.get("id")) for user in metadata.get("users") or ())
    assignment = (metadata.get("assignment") or {}).get("id")
    key = _take_key(folder / "source" / "seed.key")

    def seed(content):
        student = json.dumps([assignment, *users])
        return keys.seed(key.encode(), lesson, student, hashlib.sha256(content).hexdigest())

    return grade_folder(folder / "submission", lesson, seed, BUDGET)


def _take_key(path: Path) -> str:
    """The secret behind the seeds. Its file is removed before an answer runs: each submission has a copy."""
    try:
        key = path.read_text(encoding="ascii")
        path.unlink()
        return key
    except OSError as error:
        print(f"{path}: {error.strerror}; this run has a seed of its own")
        return secrets.token_hex(32)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
