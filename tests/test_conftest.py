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


ON_A_GPU = """
import os
import pytest
from rnnlab import cuda

@pytest.mark.gpu
@pytest.mark.parametrize("text", ["a[b]", "c"])
def test_that_wants_a_gpu(text):
    assert os.environ["RNNLAB_CUDA"] == "gpu"

@pytest.mark.gpu
def test_that_ends_its_process():
    os._exit(3)

def test_in_the_simulator():
    assert cuda.is_simulated and os.environ["RNNLAB_CUDA"] == "simulator"
"""


@pytest.mark.parametrize(
    ("options", "summary"), [([], "1 passed"), (["--gpu"], "1 failed, 2 passed"), (["-m", "gpu"], "1 failed")]
)
def test_tests_for_a_gpu_run_when_asked_for_and_each_in_its_own_process(tmp_path, options, summary):
    """One that ends its process costs only itself."""
    pretend = "import numba.cuda; numba.cuda.is_available = lambda: True\n"
    (tmp_path / "conftest.py").write_text(pretend + (ROOT / "tests/conftest.py").read_text())
    (tmp_path / "test_small_on_gpu.py").write_text(ON_A_GPU)
    (tmp_path / "test_other.py").write_text("import no_such_module" if options else "")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = gpu: on a GPU\n")
    run = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        tmp_path,
        tmp_path,
        *options,
    ]
    said = subprocess.run(run, capture_output=True, text=True).stdout
    assert summary in said
