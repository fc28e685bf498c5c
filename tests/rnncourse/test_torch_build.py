"""The peers get a CPU build of PyTorch where the package index has one; else the size is told first."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from rnncourse.lab import environment

USUAL = "torch (2.15.0)\nAvailable versions: 2.15.0, 2.14.1, 2.13.0, 2.9.1"


@pytest.fixture
def index(monkeypatch):
    """A package index that answers pip with a text, on Linux."""
    monkeypatch.setattr(sys, "platform", "linux")
    answer = lambda text: lambda *arguments, **options: SimpleNamespace(stdout=text)
    return lambda text: monkeypatch.setattr(environment.subprocess, "run", answer(text))


@pytest.mark.parametrize(
    ("versions", "build"),
    [
        (USUAL, None),
        (f"{USUAL}, 2.13.0+cpu", "2.13.0+cpu"),
        ("Available versions: 2.15.0+cu130, 2.15.0+cpu, 2.9.1+cpu, 2.10.0+cpu", "2.15.0+cpu"),
        ("Available versions: 2.9.1+cpu, 2.10.0+cpu", "2.10.0+cpu"),  # 10 is more than 9
        ("Available versions: 2.8.0+cpu", None),  # older than the course takes
        ("", None),
    ],
)
def test_the_newest_cpu_build_is_found(index, versions, build):
    index(versions)
    assert environment.newest_cpu_build("python") == build


def test_an_index_that_does_not_answer_has_no_cpu_build(monkeypatch):
    def late(*arguments, timeout, **options):
        raise subprocess.TimeoutExpired("pip", timeout)

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(environment.subprocess, "run", late)
    assert environment.newest_cpu_build("python") is None


def test_other_systems_have_cpu_builds_by_themselves(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert environment.newest_cpu_build("python") is None
    assert environment.describe_build(None) == ""


@pytest.mark.parametrize(
    ("versions", "pin", "message"),
    [(f"{USUAL}, 2.13.0+cpu", "torch==2.13.0+cpu", "2.13.0+cpu"), (USUAL, None, "6 GB")],
)
def test_only_peers_have_constraints_of_their_own_and_the_size_is_told(
    index, tmp_path, capsys, versions, pin, message
):
    index(versions)
    course = (environment.ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = next(line for line in course if line.startswith("torch=="))
    assert environment._constraints(tmp_path, ["lab", "dev"]) == "constraints.txt"
    assert capsys.readouterr().out == ""
    own = tmp_path / "constraints.txt"
    assert environment._constraints(tmp_path, ["peers", "halide"]) == str(own)
    assert message in capsys.readouterr().out
    lines = own.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("torch==")] == [pin or pinned]
    assert {*lines} - {pin} == {*course} - ({pinned} if pin else set())
