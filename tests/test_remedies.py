"""A remedy can be pasted into a shell, wherever Python is installed."""

import shlex
import sys

import pytest

from nbjudge import course
from nbjudge.classroom import export_nbgrader, papers, processes, submissions
from nbjudge.finding.notebook_file import Unusable
from nbjudge.remedies import pip_install
from rnnlab.gpu import card
from rnnlab.ladder import find, inference
from rnnlab.network import Network

PYTHON = "/opt/the lab's/bin/python"
NETWORK = Network.create("lstm", 2, 3)


def refused_rung():
    return find("numba_fused").refuses(NETWORK, 2, 2)


def refused_weights():
    with pytest.raises(ValueError, match="Numba") as refusal:
        inference.Inference(NETWORK, "int8")
    return str(refusal.value)


def refused_plan():
    return card.why_not.__wrapped__()


def refused_cluster():
    with pytest.raises(Unusable) as refusal, processes.on_cluster("tcp://host:1"):
        pass
    return str(refusal.value)


def lab():
    return f"install: {course.install_command()}"


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell reads these commands")
@pytest.mark.parametrize(
    ("refused", "packages"),
    [
        (refused_rung, ["numba", "scipy"]),
        (refused_weights, ["numba", "scipy"]),
        (refused_plan, ["cupy-cuda13x"]),
        (refused_cluster, ["distributed"]),
        (lab, ["rnnlab[lab]"]),
    ],
)
def test_a_shell_reads_the_command_that_installs_what_is_missing(monkeypatch, refused, packages):
    lab()  # finds the installed course
    monkeypatch.setattr(sys, "executable", PYTHON)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(inference, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delenv("RNNLAB_CUDA", raising=False)
    command = refused().partition(": ")[2]
    assert shlex.split(command) == [PYTHON, "-m", "pip", "install", *packages]


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell reads these commands")
@pytest.mark.parametrize(
    ("function", "words"),
    [(submissions.load, ["collect", None, "DOWNLOAD.zip"]), (papers.papers_of, ["grade", None, "first."])],
)
def test_a_shell_reads_the_command_on_a_class_folder_with_a_space_in_its_name(tmp_path, function, words):
    folder = tmp_path / "group two"
    if function is papers.papers_of:
        folder.mkdir()
        (folder / "submissions.jsonl").write_text("")
    with pytest.raises(Unusable) as refusal:
        function(folder)
    command = str(refusal.value).partition("class ")[2].rpartition("class ")[2]
    assert shlex.split(command) == [word or str(folder) for word in words]


@pytest.mark.parametrize("executable", ["", None])
def test_a_judge_in_an_embedded_python_calls_it_by_name(monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    assert pip_install("numba") == "python -m pip install numba"


def test_the_command_that_installs_nbgrader_ends_its_message(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "nbgrader.api", None)
    with pytest.raises(Unusable) as refusal:
        export_nbgrader.push_marks([], tmp_path / "gradebook.db", "first")
    assert str(refusal.value).endswith(pip_install("nbgrader"))
