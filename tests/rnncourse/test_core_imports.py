"""What a learner in a browser needs works without psutil, Numba, greenlet, CuPy, processes and threads.

See tests/pretended_browser.py for such a Python.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pretended_browser
import pytest

from nbjudge.authoring.course import ROOT
from pages.recorded import needs

ALL = sorted(path.stem for path in ROOT.glob("exercises/*.ipynb"))
LESSONS = [stem[3:] for stem in ALL]
BEGIN = f"""
import sys
sys.path.insert(0, {str(ROOT / "tests")!r})
import pretended_browser
pretended_browser.pretend()
"""


def run_in_browser(program, home):
    """What a program prints last in a Python like a browser's, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program], capture_output=True, text=True,
        env={"RNNLAB_HOME": str(home), "PATH": "/nowhere", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


PYODIDE = os.environ.get(
    "RNNLAB_PYODIDE"
)  # a folder with Pyodide's files, such as make site leaves in build/
PACKAGES = "numpy", "matplotlib", "pillow", "threadpoolctl"
PROGRAM = f"""
import json
from rnncourse import checks
from nbjudge.grading import learner
answers = {{}}
for lesson in {LESSONS}:
    first, *_, last = checks.exercises(lesson)
    right = {{first.name: first.reference, last.name: last.reference}}
    wrong = first.make(first.mutants[0])
    answers[lesson] = [str(learner.check(answer).status) for answer in (*right.values(), wrong)]
    if learner._calls[first.name]:  # a kernel's launch
        assert learner.replay(wrong).html()
print(json.dumps(answers))
"""


def run_in_pyodide(program):
    """What a program prints last in WebAssembly, as JSON."""
    line = ["node", ROOT / "tests/run_in_pyodide.mjs", Path(PYODIDE).resolve(), ROOT, *PACKAGES]
    done = subprocess.run(line, input=program, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


needs_pyodide = pytest.mark.skipif(
    not (PYODIDE and shutil.which("node")), reason="name a folder with Pyodide in RNNLAB_PYODIDE, beside Node"
)


@pytest.fixture(
    scope="module",
    params=["as in a browser", pytest.param("Pyodide", marks=[needs_pyodide, pytest.mark.slow])],
)
def verdicts(request, tmp_path_factory):
    """{lesson: statuses of two answers of the course, and of a known mistake}."""
    if request.param == "Pyodide":
        return run_in_pyodide(PROGRAM)
    return run_in_browser(PROGRAM, tmp_path_factory.mktemp("home"))


def test_right_answers_of_every_lesson_pass_there_and_a_known_mistake_does_not(verdicts):
    assert [*verdicts] == LESSONS
    assert {lesson: statuses for lesson, statuses in verdicts.items() if statuses[:2] != 2 * ["passed"]} == {}
    assert {lesson: statuses for lesson, statuses in verdicts.items() if statuses[2] == "passed"} == {}


def test_the_banner_and_the_doctor_say_that_this_is_a_browser(tmp_path):
    program = """
import io, json
from contextlib import redirect_stdout
import rnnlab
from rnncourse.lab import doctor
with redirect_stdout(io.StringIO()) as out:
    rnnlab.banner()
print(json.dumps([out.getvalue(), str(doctor.report(measured=False))]))
"""
    banner, report = run_in_browser(program, tmp_path)
    missing = [part for part in ("in a browser", "download it", "no threads") if part not in banner]
    missing += [part for part in ("Nothing needs mending", "`rnnlab grade` needs") if part not in report]
    assert not missing


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "lesson"),
    [("notebooks", lesson) for lesson in ALL]
    + [("exercises", lesson) for lesson in ALL if lesson[:2] in ("06", "07", "08", "17", "19")],
)
def test_a_notebook_runs_as_in_a_browser(folder, lesson, tmp_path):
    program = f"""
import json
import pretended_browser
print(json.dumps(pretended_browser.run_lesson({lesson[:2]!r}, {folder!r})))
"""
    assert run_in_browser(program, tmp_path) > 0


def test_no_cell_is_said_to_need_more_than_a_browser_has_in_other_lessons():
    marked = {lesson[:2]: len(needs(ROOT / f"notebooks/{lesson}.ipynb")) for lesson in ALL}
    assert {lesson for lesson, cells in marked.items() if cells} == {"06", "07", "08", "15", "16", "19"}
    assert (marked["15"], marked["16"], marked["19"]) == (1, 1, 2)


def test_the_pretended_browser_has_what_pyodide_lacks_neither(tmp_path):
    program = """
import json, subprocess, threading
failures = []
for attempt in (lambda: subprocess.run(["true"]), lambda: threading.Thread(target=int).start(),
                lambda: __import__("numba"), lambda: __import__("psutil"), lambda: __import__("fcntl")):
    try:
        attempt()
    except (OSError, RuntimeError, ImportError) as error:
        failures.append(type(error).__name__)
print(json.dumps(failures))
"""
    expected = ["OSError", "RuntimeError", *3 * ["ModuleNotFoundError"]]
    assert run_in_browser(program, tmp_path) == expected


def test_a_machine_with_one_core_measures_without_a_thread(monkeypatch):
    from rnncourse.lab import roofline

    monkeypatch.setattr(roofline, "usable_cores", lambda: 1)
    monkeypatch.setattr(roofline, "ThreadPoolExecutor", None)
    assert roofline.bandwidth(seconds=0.01, megabytes=1) > 0


def test_the_missing_modules_are_those_of_the_course_that_browsers_lack():
    assert {"psutil", "numba", "greenlet", "cupy"} <= pretended_browser.MISSING
