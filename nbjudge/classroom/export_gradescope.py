"""Gradescope: an autograder to upload, and what it runs on Gradescope's machine.

    python -P -m nbjudge.classroom.export_gradescope LESSON FOLDER     in run_autograder

The zip holds the course's package and two scripts at its root. Its defaults fit Gradescope's own: Ubuntu
22.04, whose Python is too old, 768 MB of memory, half a core, ten minutes. results.json is written whatever
happens: without one, Gradescope shows a student nothing but an error.
"""

import json
import os
import secrets
import stat
import sys
import traceback
import zipfile
from pathlib import Path

from nbjudge.classroom.one_submission import Outcome, digest_seed, grade_folder
from nbjudge.clock import Overtime
from nbjudge.course import current
from nbjudge.files import ROOT, write_whole
from nbjudge.finding.notebook_file import Unusable
from nbjudge.verdict import Verdict

BUDGET = 540.0  # seconds of the ten minutes; the rest is for starting and for writing the results
FILES = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE")
SUFFIXES = {*".py .md .js .json .jsonl .npz .jpg .cu .cuh .html .answers .svg .h .toml".split()}
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


def write_autograder(lesson: str, path: Path) -> Path:
    """Write the zip that a teacher uploads as the autograder of one lesson.

    Raises Unusable where the course's own sources are not there, or something else has the file's name.
    """
    if path.exists():
        raise Unusable(f"{path} is there already; move it away, then export again.")
    beside = path.with_name(f".{path.name}.part")
    try:
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            add(archive, "setup.sh", SETUP.encode(), executable=True)
            add(archive, "run_autograder", RUN.format(lesson=lesson).encode(), executable=True)
            add(archive, "seed.key", secrets.token_hex(32).encode())
            add_course(archive)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return path


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
    """The results as Gradescope reads them: one test for each exercise."""
    points = current().catalogue(lesson)
    tests = [_test(number, verdict) for number, verdict in enumerate(outcome.verdicts, 1)]
    if outcome.problem:
        tests = [
            {"name": name, "number": str(number), "score": 0, "max_score": points[name], "status": "failed",
             "output": "Not graded.", "output_format": "text", "visibility": "visible"}
            for number, name in enumerate(points, 1)
        ]  # fmt: skip
    words = [outcome.problem, outcome.variants, outcome.sandbox]
    if outcome.faults:
        words.append(f"Not judged, by no fault of yours: {', '.join(outcome.faults)}. Ask your teacher.")
    return {
        "output": "\n".join(filter(None, words)),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "execution_time": round(outcome.seconds, 1),
        "tests": tests,
    }


def _test(number: int, verdict: Verdict) -> dict:
    return {
        "name": verdict.name,
        "number": str(number),
        "score": verdict.points,
        "max_score": verdict.max_points,
        "status": "passed" if verdict.passed else "failed",
        "output": "\n".join([verdict.headline(), *verdict.details()]),
        "output_format": "text",
        "visibility": "visible",
        "extra_data": {"verdict": str(verdict.status), "misconception": verdict.misconception},
    }


def main(arguments: list[str]) -> int:
    """Grade /autograder/submission, write /autograder/results/results.json; 0 once it is written."""
    lesson = arguments[0]
    folder = Path(arguments[1])
    try:
        results = results_of(_graded(lesson, folder), lesson)
    except (Exception, Overtime):  # whatever it is, the student must see that it is not theirs
        traceback.print_exc()  # standard output and error are shown to the teacher
        fault = "The grader failed; this is not a fault of your answer. Submit again, or ask your teacher."
        results = results_of(Outcome((), fault, "", 0.0), lesson)
    (folder / "results").mkdir(exist_ok=True)
    write_whole(folder / "results" / "results.json", json.dumps(results, ensure_ascii=False).encode())
    return 0


def _graded(lesson: str, folder: Path) -> Outcome:
    """The verdicts; a student's notebook has one seed, whenever it is graded."""
    path = folder / "submission_metadata.json"  # missing where a teacher tries the zip in a container
    metadata = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    users = sorted(str(user.get("id")) for user in metadata.get("users") or ())
    assignment = (metadata.get("assignment") or {}).get("id")
    key = _take_key(folder / "source" / "seed.key")

    def seed(content):
        return digest_seed(key, assignment, *users, content.hex())

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
