"""A wheel works away from the clone: it lays the course out, grades, and holds no answer in plain text.

The same in an empty environment, with the packages that the wheel itself asks for, is .ci/wheel.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from nbjudge.authoring.course import ROOT
from nbjudge.authoring.percent import BEGIN, END
from rnncourse.course import PACKAGES

SOURCES = "pyproject.toml", "constraints.txt", "README.md", "LICENSE", *PACKAGES, "notebooks", "exercises"
SITE = Path("lib") / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy: setuptools writes beside what it builds."""
    folder = tmp_path_factory.mktemp("wheel")
    skip = shutil.ignore_patterns("__pycache__", "source", "*.part")
    (folder / "tree").mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / "tree" / name, ignore=skip)
        else:
            shutil.copyfile(ROOT / name, folder / "tree" / name)
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, folder / "tree")
    (wheel,) = folder.glob("rnnlab-*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder that the wheel was installed into, beside this environment's packages."""
    prefix = tmp_path_factory.mktemp("prefix")
    pip("install", "--no-deps", "--no-index", "--ignore-installed", "--prefix", prefix, wheel)
    return prefix


def pip(*arguments):
    line = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def rnnlab(installed, folder, *arguments):
    """The installed command in a folder; what it did."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("RNNLAB", "PYTHON"))}
    env |= {
        "PYTHONPATH": str(installed / SITE),
        "RNNLAB_HOME": str(installed / "home"),
        "RNNLAB_CUDA": "simulator",
    }
    folder.mkdir(parents=True, exist_ok=True)
    line = [sys.executable, str(installed / "bin/rnnlab"), *map(str, arguments)]
    return subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def course(installed, tmp_path_factory):
    """A folder that `rnnlab start` made."""
    folder = tmp_path_factory.mktemp("learner")
    done = rnnlab(installed, folder, "start", "course")
    assert done.returncode == 0, done.stderr
    return folder / "course"


def test_the_wheel_holds_the_tables_that_the_packages_read(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tables = {
        path.relative_to(ROOT).as_posix() for name in PACKAGES for path in ROOT.glob(f"{name}/**/*.toml")
    }
    assert "pocketgpu/devices.toml" in tables
    assert tables - {"pocketgpu/pyproject.toml"} <= {*names}


def test_the_wheel_holds_the_package_the_lessons_and_the_exercises_only(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    notebooks = {Path(name).parent.name + "/" + Path(name).name for name in names if name.endswith(".ipynb")}
    course = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("exercises/*.ipynb")]
    assert notebooks == {path.relative_to(ROOT).as_posix() for path in course}
    top = {name.split("/")[0] for name in names}
    assert {name.partition("-")[0] for name in top} == {*PACKAGES}


def test_no_answer_stands_in_the_wheel_in_plain_text(wheel):
    archive = zipfile.ZipFile(wheel)
    texts = {name: squeezed(archive.read(name).decode(errors="ignore")) for name in archive.namelist()}
    notebooks = {
        name: squeezed("".join("".join(cell["source"]) for cell in json.loads(archive.read(name))["cells"]))
        for name in texts
        if name.endswith(".ipynb")
    }
    assert not [name for name, text in texts.items() if squeezed(BEGIN) in text and not name.endswith(".py")]
    answers = dict(answers_of_the_course())
    assert len(answers) > 50
    copies = [(name, where) for name, answer in answers.items()
            for where, text in (texts | notebooks).items() if answer in text]  # fmt: skip
    assert copies == []


def answers_of_the_course():
    """(exercise, answer without spaces) of each that is too long to be an accident."""
    for source in ROOT.glob("solutions/source/*/*.py"):
        for part in source.read_text(encoding="utf-8").split(BEGIN)[1:]:
            body = squeezed(part.partition(END)[0])
            if len(body) > 60:
                yield source.stem, body


def squeezed(text):
    return "".join(text.split())


def test_start_lays_the_course_out_where_it_is_told(course):
    lessons = sorted(path.name for path in ROOT.glob("notebooks/*.ipynb"))
    assert sorted(path.name for path in (course / "notebooks").iterdir()) == lessons
    for path in (course / "exercises").iterdir():
        assert path.read_bytes() == (ROOT / "exercises" / path.name).read_bytes()


def test_an_untouched_exercise_is_graded_away_from_the_clone(installed, course):
    done = rnnlab(installed, course, "grade", "exercises/00_start_here.ipynb", "--json", "report.json")
    assert done.returncode == 1, done.stderr
    report = json.loads((course / "report.json").read_text())
    assert report["score"] == 0
    assert {exercise["status"] for exercise in report["exercises"]} == {"not_attempted"}


def test_the_command_knows_the_course_around_the_working_directory(installed, course):
    done = rnnlab(installed, course / "notebooks", "doctor", "--quick")
    assert done.returncode == 0, done.stderr
    assert f"kept in {course.resolve() / 'work'}" in done.stdout


def test_the_wheel_knows_the_versions_that_it_was_tested_with(installed, tmp_path):
    script = "from rnncourse.lab import work; print(work.tested_versions())"
    env = os.environ | {"PYTHONPATH": str(installed / SITE)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    assert done.stdout.strip() == str(dict(line.split("==") for line in pins))


def test_an_update_without_a_newer_package_says_so(installed, course):
    done = rnnlab(installed, course, "update")
    assert (done.returncode, done.stderr) == (0, "")
    assert "pip install --upgrade" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lab"], "`rnnlab start FOLDER`"),
        (["update"], "`rnnlab start FOLDER`"),
        (["bench", "cpu"], "bench/"),
        (["record", "list"], "bench/"),
        (["gpu-day", "1"], "bench/"),
        (["grade", "--self-check"], "solutions/"),
    ],
)
def test_what_is_missing_away_from_a_course_is_said_in_a_sentence(installed, tmp_path, arguments, message):
    done = rnnlab(installed, tmp_path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
