"""What the README, CONTRIBUTING and CITATION say is so: map, tree, picture, code, links, commands."""

import pkgutil
import re
import runpy
import subprocess
import sys
from importlib import import_module

import numpy
import pytest
import yaml

import rnnlab
from nbjudge.authoring.course import ROOT
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from pocketgpu.simulator.report import observe
from rnncourse import checks, cli
from rnncourse.course import PACKAGES
from rnnlab import reference
from rnnlab.tasks import text as rnnlab_text

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d\d) \| \[([^]]+)\]\(notebooks/(\w+)\.ipynb\)", re.M)
CODE = re.compile(r"```python\n(.*?)```", re.S)
NOTEBOOKS = {path.stem for path in ROOT.glob("notebooks/*.ipynb")}


def tracked():
    """Every file that belongs to the project, as its parts below the root."""
    output = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [tuple(line.split("/")) for line in output.splitlines()]


def tree():
    """Paths of the README's tree: what is indented stands in the folder above it."""
    block = next(b for b in CONTRIBUTING.split("```\n") if b.startswith("README.md"))
    above = ""
    for line in block.splitlines():
        name = line.split()[0]
        if not line.startswith(" "):
            above = name
        yield name if name == above else above + name


def test_the_map_names_every_lesson_in_order():
    rows = ROW.findall(README)  # built, as tests/rnncourse/test_course.py holds
    assert [stem for *_, stem in rows] == sorted(NOTEBOOKS)
    assert all(stem.startswith(number) and title.partition(" ")[0].istitle() for number, title, stem in rows)


def of_package(package):
    """The README of a package."""
    return (ROOT / package / "README.md").read_text(encoding="utf-8")


def test_every_path_of_the_tree_exists():
    assert not [path for path in tree() if not (ROOT / path).exists()]


def test_the_tree_leaves_nothing_out():
    named = {path.rstrip("/") for path in tree()}
    assert sorted({parts[0] for parts in tracked()} - named) == []


def test_the_picture_shows_the_race_as_the_simulator_finds_it_today():
    picture = runpy.run_path(str(ROOT / "docs/pictures.py"))
    text = picture["TARGET"].read_text(encoding="utf-8")
    assert text == picture["race"]()
    reads = [event for event in picture["shared_events"]() if not event[0]]
    unwritten = {thread for _, thread, _, is_written in reads if not is_written}
    report = observe(picture["_reverse"], 1, 8, (numpy.arange(8, dtype="float32"),))
    assert {finding.kind for finding in report.findings} == {"race"}
    assert unwritten == {0, 1, 2, 3}
    assert len(text) < 300_000


def test_the_first_page_says_what_the_course_counts_today():
    sweeps = reference.bptt_quadratic, reference.bptt_linear
    network = rnnlab.Network.create("rnn_tanh", input_size=1, hidden_size=2)
    x = numpy.zeros((64, 1, 1), "float32")
    dy = numpy.ones((64, 1, 2), "float32")
    quadratic, linear = (sweep(network, x, None, dy).cell_backwards for sweep in sweeps)
    assert f"**{quadratic:,} → {linear}** cells" in README


def test_the_exercise_of_the_first_page_gets_the_verdict_that_stands_below_it():
    code = re.search(r"```python\n(.*?)\ncheck\(rnn_step\)", README, re.S)[1]
    names = {"np": numpy}
    exec(compile(code, "README.md", "exec"), names)
    verdict = judge(checks.find("rnn_step")[1], InProcess(names["rnn_step"], "rnn_step"), seed=1)
    assert f"It looks as if rnn_step {verdict.misconception}." in README


def test_the_first_page_counts_the_exercises_and_their_known_mistakes():
    exercises = [exercise for lesson in checks.LESSONS for exercise in checks.exercises(lesson)]
    known = sum(len(exercise.mutants) for exercise in exercises)
    assert f"**{len(exercises)} exercises** judged at once, {known} mistakes named" in README


def test_the_first_page_is_short():
    assert len(README.splitlines()) <= 90


def test_the_code_for_engineers_runs_as_it_stands():
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs/engineers.md").read_text("utf-8"), re.S)[1]
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["y"].shape == (7, 4, 5)
    assert names["dx"].shape == (7, 4, 3)


def test_a_gru_trains_on_a_text_of_ones_own_as_rnnlab_says(tmp_path, monkeypatch, capsys):
    code = next(code for code in CODE.findall(of_package("rnnlab")) if "my.txt" in code)
    own = "A rose is a rose is a rose; the tulip is not. " * 60
    (tmp_path / "my.txt").write_text(own, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(code.replace("steps=300", "steps=2, progress=False"), "README.md", "exec"), {})
    loss, written = capsys.readouterr().out.split("\n", 1)
    assert "nats a character" in loss
    assert {*written} <= {*own, rnnlab_text.UNKNOWN, "\n"}


def test_packed_weights_and_steps_of_8_bits_run_as_rnnlab_says(capsys):
    first, second, *_ = CODE.findall(of_package("rnnlab"))
    exec(compile(first + second, "README.md", "exec"), {})
    assert 0 < float(capsys.readouterr().out.splitlines()[-1].split()[0]) < 0.01


@pytest.mark.parametrize("package", PACKAGES)
def test_the_example_of_a_package_runs_as_it_stands(package):
    code = re.search(r"```python\n(.*?)```", of_package(package), re.S)[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_the_names_that_its_readme_offers(package):
    names = re.findall(r"^\| `([\w.]+)` \|", of_package(package), re.M)
    offered = getattr(import_module(package), "__all__", [])
    assert {*offered} <= {*names}
    for name in names:
        pkgutil.resolve_name(f"{package}.{name}")


@pytest.mark.parametrize("package", PACKAGES)
def test_the_tree_of_a_package_leaves_nothing_out(package):
    block = of_package(package).split("```\n")[-2]
    inside = (parts[1:] for parts in tracked() if parts[0] == package)
    entries = {parts[0] + "/" * (len(parts) > 1) for parts in inside if (ROOT / package / parts[0]).exists()}
    assert {line.split()[0] for line in block.splitlines()} == entries - {"__init__.py", "README.md"}


PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md")),
    *(f"{package}/README.md" for package in PACKAGES),
]


@pytest.mark.parametrize("path", PAGES)
def test_every_link_leads_to_a_file(path):
    page = ROOT / path
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_every_target_that_is_named_is_one_of_the_makefile(text):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"^make ([a-z]+)|`make ([a-z]+)", text, re.M)) <= {(t, "") for t in targets} | {
        ("", t) for t in targets
    }


def test_every_command_that_is_named_is_there():
    pages = [README, *(path.read_text("utf-8") for path in ROOT.glob("docs/*.md"))]
    named = {name for page in pages for name in re.findall(r"`rnnlab ([a-z-]+)", page)}
    assert named
    assert not {command for command in named if f"\n    {command} " not in cli.parser().format_help()}


def test_the_citation_has_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == rnnlab.__version__
    assert {"cff-version", "message", "title", "authors"} <= {*citation}
