"""The run of numba-cuda's own tests: what counts, what is said of those that do not pass, and the page."""

import json
import subprocess
import sys

import pytest
from values_in import holds

from bench import peer_suite
from bench.peer_suite import Outcome

MODULE = "numba.cuda.tests.cudapy.test_slicing"
NAME = f"{MODULE}.TestSlicing.test_"


def outcome(name, how="passed", why=""):
    return Outcome(NAME + name, how, why)


def said(*lines):
    """A worker's answer: every test is found, and started in order."""
    tests = [NAME + name for name, _ in lines]
    yield {"test": MODULE, "outcome": "found", "tests": tests}
    for name, how in lines:
        yield {"test": NAME + name, "outcome": "started"}
        if how == "hangs":
            return
        yield {"test": NAME + name, "outcome": how}


def test_tests_behind_one_that_hangs_are_run_in_another_process(monkeypatch):
    answers = [[*said(("a", "passed"), ("b", "hangs"), ("c", "passed"))], [*said(("c", "failed"))]]
    monkeypatch.setattr(peer_suite, "_run_worker", lambda *_: (answers.pop(0), "no end"))
    got = peer_suite.outcomes("ours", MODULE)
    assert got == [outcome("a"), outcome("b", "failed", "no end"), outcome("c", "failed")]


def test_only_what_their_simulator_passes_counts_except_for_warps(monkeypatch):
    theirs = [outcome("a"), outcome("b", "skipped"), outcome("c", "failed")]
    ours = [outcome("a"), outcome("b"), outcome("c", "failed")]
    run = lambda simulator, module, wanted=(): theirs if simulator == "theirs" else ours
    monkeypatch.setattr(peer_suite, "outcomes", run)
    assert [theirs.test[-1] for theirs, *_ in peer_suite.compare(MODULE)] == ["a"]
    assert len(peer_suite.compare("numba.cuda.tests.cudapy.test_warp_ops")) == 3


def test_the_page_counts_and_names_what_does_not_pass(monkeypatch):
    monkeypatch.setattr(peer_suite.importlib.metadata, "version", lambda _: "1.2")
    wrong = outcome("b", "failed", "TypeError: a|b <x>")
    compared = [
        (outcome("a"), outcome("a"), outcome("a")),
        (outcome("b"), wrong, wrong),
        (outcome("b"), wrong, outcome("b")),
        (outcome("c", "skipped"), *[outcome("external_cooperative", "failed")] * 2),
    ]
    page = peer_suite.page(compared)
    assert holds(page, "3", "1", "(33.3%)", "2", "(66.7%)")
    assert "| cudapy.test_slicing | 1 | 2 | 4 |" in page
    assert "| cudapy.test_slicing.TestSlicing.test_b | failed: TypeError: a\\|b &lt;x> |" in page
    assert "failed in lockstep alone: TypeError" in page
    assert "not supported: links CUDA C++" in page


def test_the_committed_page_reaches_what_was_aimed_for():
    text = peer_suite.PAGE.read_text(encoding="utf-8")
    share = float(text.split("own simulator passes: ")[1].split("(")[1].split("%")[0])
    assert share >= 97


def test_the_worker_says_how_each_test_of_a_module_ended(tmp_path):
    (tmp_path / "sample.py").write_text(
        "import unittest\n"
        "class Sample(unittest.TestCase):\n"
        "    def test_right(self): pass\n"
        "    def test_wrong(self): self.assertEqual(1, 2)\n"
        "    @unittest.skip('no time')\n"
        "    def test_skipped(self): pass\n"
    )
    command = [sys.executable, "-m", "bench.peer_suite_worker", "theirs", "sample"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    ends = {line["test"][-5:]: line for line in lines if line["outcome"] not in ("found", "started")}
    assert ends["right"]["outcome"] == "passed"
    assert ends["ipped"]["why"] == "no time"
    assert ends["wrong"]["why"].startswith("AssertionError: 1 != 2")


def test_without_numba_cuda_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(peer_suite.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match="numba"):
        [*peer_suite.modules()]


def test_what_its_tests_need_is_named_before_one_runs(monkeypatch, capsys):
    monkeypatch.setattr(peer_suite, "NEEDED", ("sys", "no_such_package"))
    with pytest.raises(SystemExit):
        peer_suite.main([])
    assert holds(capsys.readouterr().err, "no_such_package", peer_suite.PIP)
