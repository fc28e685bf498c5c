"""Binder, containers, Colab: their files agree with the course's versions and name what exists."""

import json
import re

import pytest
import yaml
from packaging.version import Version
from test_setup import CONDA, PINS, PROJECT, in_conda_forge, required

from nbjudge.authoring import course
from nbjudge.authoring.course import ROOT
from pages import places
from pages.colab import JUPYTER, needed_packages
from pages.site import Site
from rnncourse.checks import LESSONS
from rnncourse.lab.work import REPOSITORY

TABLES = course._loaded(ROOT / "docs/tables.py", "docs_tables")
BINDER = yaml.safe_load((ROOT / "binder/environment.yml").read_text())["dependencies"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COLAB = dict(line.split("==") for line in (ROOT / "constraints-colab.txt").read_text().split())


def test_binder_gets_the_courses_versions_without_tests_and_without_a_gpu():
    versions = dict(line.split("=") for line in BINDER if "=" in line)
    conda = dict(line.split("=") for line in CONDA if isinstance(line, str) and "=" in line)
    assert versions.pop("python") == conda["python"]
    assert versions == in_conda_forge(required("lab"))


def test_binder_installs_the_course_itself_and_makes_the_learners_copies():
    script = (ROOT / "binder/postBuild").read_text()
    assert "--no-deps" in script
    assert "--no-build-isolation" not in script  # Python 3.13 brings no setuptools to build with
    assert "copy_exercises" in script
    assert (ROOT / "binder/postBuild").stat().st_mode & 0o111


def test_every_pin_of_the_class_server_is_a_pin_of_the_course():
    pins = re.findall(r"\b([a-z-]+)==([\d.]+)", DOCKERFILE)
    assert pins
    assert dict(pins).items() <= PINS.items()


def test_the_class_servers_image_holds_no_solutions_and_runs_as_nobody_special():
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {"solutions", "tests", "work", ".git"} <= {*ignored}
    assert re.search(r"^USER 1000$", DOCKERFILE, re.M)


def test_the_container_of_an_editor_calls_targets_that_exist():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    makefile = (ROOT / "Makefile").read_text()
    targets = {container[command].split()[1] for command in ("postCreateCommand", "postAttachCommand")}
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in targets)


@pytest.mark.parametrize("name", sorted(COLAB))
def test_what_colab_has_is_new_enough_for_the_course(name):
    lines = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["lab"]]
    floors = {line.split(">=")[0].lower(): line.split(">=")[1].split(";")[0] for line in lines}
    if name in floors and name not in JUPYTER:  # Colab's Jupyter is left alone
        assert Version(COLAB[name]) >= Version(floors[name])


def test_the_set_up_cell_of_colab_asks_for_all_that_lessons_import_but_jupyter():
    packages = needed_packages()
    assert {"numpy", "numba", "scipy"} <= packages.keys()
    assert not JUPYTER & packages.keys()
    assert not [line for line in packages.values() if ";" in line]


PROGRAMS = "rnnlab/**/*.py", "pages/**/*.py", "bench/**/*.py"
PROSE = "README.md", "docs/*.md", "notebooks/source/*.py", "solutions/source/**/*.py"
TEXTS = [path for pattern in (*PROGRAMS, *PROSE) for path in ROOT.glob(pattern)]


def test_nobody_is_told_to_install_the_course_from_an_index_that_lacks_it():
    """The name is free there for anybody; in a clone an extra is installed from the clone."""
    course = re.compile(r"install (?:--?[\w-]+ )*['\"]?rnnlab(?:\[[\w,]+\])?(?![\w\[-]| @ git)")
    assert course.search("pip install --upgrade rnnlab")
    assert not [path.name for path in TEXTS if course.search(path.read_text(encoding="utf-8"))]
    own = re.compile(r"install (?:-c \S+ )?-e ['\"]\.\[([\w,-]+)\]['\"]")
    extras = {
        extra for path in TEXTS for words in own.findall(path.read_text()) for extra in words.split(",")
    }
    assert {"lab", "compile", "teach"} <= extras <= PROJECT["optional-dependencies"].keys()


def test_readme_has_one_line_for_a_person_without_a_clone():
    addresses = re.findall(r"git clone (\S+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert addresses == ([REPOSITORY] if REPOSITORY else [])


def test_a_published_course_names_in_readme_what_its_site_and_the_services_offer(tmp_path):
    repository, first = "https://github.com/name/rnnlab", next(iter(LESSONS.values()))
    text = TABLES.ways_in(repository)
    links = re.findall(r"\]\((\S+)\)", text)
    assert f"git clone {repository} " in text
    for address, _ in places.services(repository, "main", f"notebooks/{first}.ipynb"):
        assert address in links
    assert links[1] == f"{links[0]}{Site(tmp_path).browser_address('index.html', first)}"
    assert "](" not in TABLES.ways_in(""), "no link before there is something to link to"
