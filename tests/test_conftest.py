"""A missing program skips a test with the command that mends it, and fails it in continuous integration."""

import subprocess
import sys

import pytest

from rnnlab.course import ROOT

TESTS = """
import pytest

def test_that_needs_a_program():
    pytest.skip("sudo apt-get install chromium")

def test_that_needs_hardware():
    pytest.skip("needs a GPU")

def test_that_passes():
    pass
"""


@pytest.mark.parametrize(
    ("ci", "summary"), [("", "1 passed, 2 skipped"), ("true", "1 failed, 1 passed, 1 skipped")]
)
def test_a_skip_for_want_of_a_program_fails_in_ci_only(tmp_path, monkeypatch, ci, summary):
    monkeypatch.setenv("CI", ci)
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    (tmp_path / "test_small.py").write_text(TESTS)
    run = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path]
    said = subprocess.run(run, capture_output=True, text=True).stdout
    assert summary in said
    assert ("CI does not allow: " in said) == bool(ci)
