"""Classroom 50: an autograder folder for its configuration repository, and what it runs.

    python -P -m nbjudge.classroom.export_classroom50 LESSON     in the student's checkout

Its bundles can be read by whoever finds their address, and it grades in the student's own repository: the
marks are for quick feedback. Those that count come from `rnnlab class grade` on the teacher's machine.
"""

import json
import os
import secrets
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from nbjudge.classroom.export_gradescope import FOR_CHECKS, add_course
from nbjudge.classroom.one_submission import Outcome, grade_folder
from nbjudge.course import current
from nbjudge.files import ROOT, write_whole
from nbjudge.finding.notebook_file import Unusable

SCHEMA = "classroom50/result/v1"
BUDGET = 480.0  # seconds; a command of theirs may be given up to 600
GRADED, INFRASTRUCTURE = 0, 1  # exit status: a fault of ours must not look like a failing student
FIELDS = {  # field of the result: variable that holds it
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}
AUTOGRADER = '''\
"""Autograder of lesson {lesson}: installs the course that lies beside it, grades, writes result.json."""

import os
import subprocess
import sys

bundle = os.environ["CLASSROOM50_BUNDLE_DIR"]
python = [sys.executable, "-P", "-m"]  # no module comes from the working directory, which is the student's
pip = [*python, "pip", "install", "-q", "-c", os.path.join(bundle, "constraints.txt")]
subprocess.run([*pip, os.path.join(bundle, "rnnlab.zip"), *{packages!r}], check=True)
sys.exit(subprocess.run([*python, "nbjudge.classroom.export_classroom50", "{lesson}"]).returncode)
'''


def write_autograder(lesson: str, folder: Path) -> Path:
    """Write a folder to put at CLASSROOM/autograders/ASSIGNMENT of the configuration repository.

    Raises Unusable where the folder is there already, or the course's sources are not.
    """
    if folder.exists():
        raise Unusable(f"{folder} is there already; move it away, then export again.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        with zipfile.ZipFile(beside / "rnnlab.zip", "w") as archive:
            add_course(archive)
        text = AUTOGRADER.format(lesson=lesson, packages=list(FOR_CHECKS))
        write_whole(beside / "autograder.py", text.encode())
        write_whole(beside / "constraints.txt", (ROOT / "constraints.txt").read_bytes())
        beside.chmod(0o755)
        return beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)  # what a full disk has left; nothing once it is renamed


def result_of(outcome: Outcome, lesson: str, environment: Mapping[str, str], now: float) -> dict:
    """The result as Classroom 50 reads it; its scores are integers."""
    points = current().catalogue(lesson)
    tests = [
        {"test-name": verdict.name, "passed": verdict.passed, "score": verdict.points,
         "max-score": verdict.max_points, "output": "\n".join([verdict.headline(), *verdict.details()])}
        for verdict in outcome.verdicts
    ]  # fmt: skip
    if outcome.problem:
        tests = [
            {
                "test-name": name,
                "passed": False,
                "score": 0,
                "max-score": points[name],
                "output": outcome.problem,
            }
            for name in points
        ]
    head = {"schema": SCHEMA} | {field: environment.get(name, "") for field, name in FIELDS.items()}
    head["datetime"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    return head | {"score": outcome.score, "max-score": sum(points.values()), "tests": tests}


def main(arguments: list[str]) -> int:
    """Grade the checkout in the working directory, write result.json there; 1 by a fault of the grader."""
    lesson = arguments[0]
    Path("result.json").unlink(missing_ok=True)  # of the checkout; no result is one where the grader fails
    outcome = grade_folder(Path(), lesson, lambda content: secrets.randbits(53), BUDGET)
    print("\n".join(filter(None, (outcome.problem or outcome.sandbox, outcome.variants))))
    for verdict in outcome.verdicts:
        print(verdict)
    if outcome.faults:
        return INFRASTRUCTURE
    result = result_of(outcome, lesson, os.environ, time.time())
    write_whole("result.json", (json.dumps(result, indent=1, ensure_ascii=False) + "\n").encode())
    return GRADED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
