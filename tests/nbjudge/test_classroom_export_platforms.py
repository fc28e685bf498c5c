"""What is uploaded to Gradescope, run as it runs it, and held against its documents."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from io import BytesIO

import jsonschema
import pytest
from values_in import holds

from nbjudge.authoring.course import ROOT
from nbjudge.classroom import export_gradescope
from nbjudge.classroom.export_gradescope import Outcome
from nbjudge.clock import Overtime
from nbjudge.finding.notebook_file import Unusable
from nbjudge.verdict import Status, Verdict
from rnncourse import checks
from rnncourse.course import PACKAGES
from rnnlab import resources

LESSON, STEM = "start_here", "00_start_here"
FORMATS = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
VISIBLE = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
GRADESCOPE = {  # the documented results.json; a test may lack a score where the whole has one
    "type": "object",
    "required": ["score"],
    "additionalProperties": False,
    "properties": {
        "score": {"type": "number"}, "execution_time": {"type": "number"}, "output": {"type": "string"},
        "output_format": FORMATS, "test_output_format": FORMATS, "test_name_format": FORMATS,
        "visibility": VISIBLE, "stdout_visibility": VISIBLE, "extra_data": {"type": "object"},
        "leaderboard": {"type": "array"},
        "tests": {"type": "array", "items": {
            "type": "object", "additionalProperties": False, "required": ["max_score", "name"],
            "properties": {
                "score": {"type": "number"}, "max_score": {"type": "number"}, "name": {"type": "string"},
                "status": {"enum": ["passed", "failed"]}, "name_format": FORMATS,
                "number": {"type": "string"}, "output": {"type": "string"}, "output_format": FORMATS,
                "tags": {"type": "array"}, "visibility": VISIBLE, "extra_data": {"type": "object"},
            },
        }},
    },
}  # fmt: skip


def verdicts(*statuses):
    scored = zip(checks.catalogue(LESSON).items(), statuses, strict=True)
    return tuple(Verdict(name, Status(s), p * (s == "passed"), p, "Why.") for (name, p), s in scored)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    with zipfile.ZipFile(BytesIO(export_gradescope.autograder(LESSON))) as archive:
        yield archive


def test_the_scripts_stand_at_the_root_and_can_be_executed(archive):
    for name in ("setup.sh", "run_autograder"):
        assert archive.getinfo(name).external_attr >> 16 & 0o111
        text = archive.read(name).decode()
        assert text.startswith("#!/usr/bin/env bash\n")
        assert "\r" not in text
        checked = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
        assert checked.returncode == 0, checked.stderr


def test_the_package_is_complete_and_brings_no_solution_in_plain_text(archive):
    names = {*archive.namelist()}
    tracked = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    patterns = [pattern for package in data.values() for pattern in package]
    suffixes = (".py", *(pattern.removeprefix("**/*") for pattern in patterns))
    wanted = {name for name in tracked.stdout.split() if name.endswith(suffixes) and (ROOT / name).exists()}
    assert wanted <= names
    assert not [name for name in names if name.startswith(("solutions", "tests", "exercises"))]


def test_a_python_is_installed_that_the_course_supports():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest = tuple(map(int, re.findall(r"\d+", project["requires-python"])))
    assert tuple(map(int, export_gradescope.PYTHON.split("."))) >= oldest
    named = {re.match(r"[\w-]+", entry)[0] for entry in project["optional-dependencies"]["lab"]}
    assert {*export_gradescope.FOR_CHECKS} <= named
    assert "/opt/uv/bin/uv venv -q --python 3.12" in export_gradescope.SETUP


@pytest.fixture
def autograder(archive, tmp_path):
    """A folder as Gradescope makes it, with the solved notebook of the lesson handed in."""
    (tmp_path / "submission").mkdir()
    (tmp_path / "source").mkdir()
    for name in ("run_autograder", "seed.key"):
        archive.extract(name, tmp_path / "source")
    metadata = {
        "id": 1,
        "assignment": {"id": 7, "title": "Öl"},
        "users": [{"id": 3, "email": "a@b", "name": "Ä"}],
    }
    (tmp_path / "submission_metadata.json").write_text(json.dumps(metadata))
    shutil.copy(ROOT / f"solutions/{STEM}.ipynb", tmp_path / "submission" / "my answers.ipynb")
    return tmp_path


def run(autograder):
    env = os.environ | {"NBJUDGE_PYTHON": sys.executable, "AUTOGRADER": str(autograder)}
    script = autograder / "source" / "run_autograder"
    done = subprocess.run(["bash", script], env=env, capture_output=True, text=True, cwd=autograder)
    assert done.returncode == 0, done.stderr
    results = json.loads((autograder / "results" / "results.json").read_bytes())
    jsonschema.validate(results, GRADESCOPE)
    return results


def test_a_solved_notebook_gets_one_passed_test_for_each_exercise(autograder):
    results = run(autograder)
    assert [(t["name"], t["score"], t["max_score"], t["status"]) for t in results["tests"]] == [
        (name, points, points, "passed") for name, points in checks.catalogue(LESSON).items()
    ]
    assert "Answers ran in" in results["output"]
    assert not (autograder / "source" / "seed.key").exists()


def test_results_are_written_whatever_is_handed_in(autograder):
    (autograder / "submission" / "my answers.ipynb").write_text("{")
    results = run(autograder)
    assert {test["score"] for test in results["tests"]} == {0}
    assert holds(results["output"], "answers.ipynb")
    assert str(autograder) not in results["output"]
    (autograder / "submission_metadata.json").write_text("[]")
    results = run(autograder)
    assert holds(results["output"], *checks.catalogue(LESSON))
    assert not any("score" in test for test in results["tests"])


def test_a_fault_of_the_grader_is_said_to_be_none_of_the_student():
    outcome = Outcome(verdicts("passed", "grader_error", "failed"), "", "Answers ran in plain mode.", 1.0)
    results = export_gradescope.results_of(outcome, LESSON)
    jsonschema.validate(results, GRADESCOPE)
    first = results["output"].partition("\n")[0]
    assert holds(first, "count_rnn_flops")
    assert [test.get("score") for test in results["tests"]] == [1, None, 0]
    assert [test.get("status") for test in results["tests"]] == ["passed", None, "failed"]


def test_what_no_time_is_left_for_is_not_judged_and_the_others_stand(tmp_path):
    shutil.copy(ROOT / f"solutions/{STEM}.ipynb", tmp_path)
    clock = iter([0.0, 0.0, 1000.0, 1000.0, 1000.0])
    outcome = export_gradescope.grade_folder(
        tmp_path, LESSON, lambda content: 1, 540.0, now=lambda: next(clock)
    )
    assert [verdict.status for verdict in outcome.verdicts] == ["passed", "grader_error", "grader_error"]
    assert "time for one submission was over" in outcome.verdicts[1].message


def test_a_notebook_with_a_variant_is_graded_with_its_numbers(tmp_path):
    book = (ROOT / f"solutions/{STEM}.ipynb").read_text(encoding="utf-8")
    changed = book.replace("check(measure_gemm)", "check(measure_gemm, warm=2)")
    assert changed != book
    (tmp_path / f"{STEM}.ipynb").write_text(changed, encoding="utf-8")
    outcome = export_gradescope.grade_folder(tmp_path, LESSON, lambda content: 1, 540.0)
    statuses = [verdict.status for verdict in outcome.verdicts]
    assert statuses == ["passed", "passed", "failed"], "the answer has the course's own number"
    sentence = "Taken as this notebook's checks name them: measure_gemm with warm=2."
    assert outcome.variants == sentence
    assert sentence in export_gradescope.results_of(outcome, LESSON)["output"]


def test_an_autograder_without_metadata_or_with_a_judge_that_hangs_writes_results(autograder, monkeypatch):
    (autograder / "submission_metadata.json").unlink()
    graded = Outcome(verdicts("passed", "passed", "failed"), "", "", 1.0)
    monkeypatch.setattr(export_gradescope, "grade_folder", lambda *arguments: graded)
    results = lambda: json.loads((autograder / "results" / "results.json").read_bytes())
    assert export_gradescope.main([LESSON, str(autograder)]) == 0
    assert [test["score"] for test in results()["tests"]] == [1, 2, 0]

    def hang(*arguments):
        raise Overtime

    monkeypatch.setattr(export_gradescope, "grade_folder", hang)
    assert export_gradescope.main([LESSON, str(autograder)]) == 0
    assert {test["extra_data"]["verdict"] for test in results()["tests"]} == {"grader_error"}


def test_the_one_notebook_of_the_lesson_is_chosen(tmp_path):
    with pytest.raises(Unusable, match=r"00_start_here\.ipynb"):
        export_gradescope.notebook_in(tmp_path, LESSON)
    for name in ("exercises/00_start_here.ipynb", "exercises/02_bptt.ipynb"):
        shutil.copy(ROOT / name, tmp_path)
    assert export_gradescope.notebook_in(tmp_path, LESSON).name == "00_start_here.ipynb"
    for number in range(1001):
        (tmp_path / f"{number}.txt").touch()
    (tmp_path / "00_start_here.ipynb").rename(tmp_path / "z.IPYNB")
    assert export_gradescope.notebook_in(tmp_path, LESSON).name == "z.IPYNB", "behind a thousand other files"
    (tmp_path / "z.IPYNB").rename(tmp_path / "00_start_here.ipynb")
    shutil.copy(tmp_path / "00_start_here.ipynb", tmp_path / "copy.ipynb")
    with pytest.raises(Unusable, match=r"2.*00_start_here\.ipynb.*copy\.ipynb"):
        export_gradescope.notebook_in(tmp_path, LESSON)


def test_an_answer_gets_no_more_memory_than_the_machine_can_spare(monkeypatch):
    monkeypatch.setattr(resources, "memory_limit", lambda: 768 << 20)
    assert export_gradescope.fitting_box().memory == int(export_gradescope.SHARE * (768 << 20))
    monkeypatch.setattr(resources, "memory_limit", lambda: float("inf"))
    assert export_gradescope.fitting_box().memory == 2 << 30


def test_an_export_from_no_clone_names_what_is_missing(monkeypatch):
    monkeypatch.setattr(export_gradescope, "FILES", ("nope.txt",))
    with pytest.raises(Unusable, match=r"nope\.txt"):
        export_gradescope.autograder(LESSON)
