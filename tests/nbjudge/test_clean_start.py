"""Files beside a submission change nothing: none of them is read by the judge, however it is started."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from nbjudge.authoring.course import ROOT
from nbjudge.grading.clean_start import clean_start
from rnncourse.course import PACKAGES

MARK = "open({path!r}, 'a').write(__name__ + ' ')\n"  # what a module does that the judge must not import
MODULES = (
    "sitecustomize", "usercustomize", "numpy", "json", "argparse", "traceback", "secrets", "psutil", "numba",
    "matplotlib", "yaml", "scipy", "pip", "resource",
)  # fmt: skip
SETTINGS = {
    ".numba_config.yaml": "CUDA_DRIVER: ./driver.so\nDISABLE_JIT: 1\n",
    "matplotlibrc": b"\xff\xfe not UTF-8",
    "jupyter_config.py": "raise SystemExit(9)",
    "jupyter_server_config.json": "{",
    "ipython_config.py": "raise SystemExit(9)",
    "ipython_kernel_config.py": "raise SystemExit(9)",
    "pip.conf": "[global]\nindex-url = file:///nowhere",
    "setup.cfg": "[metadata",
    "pyproject.toml": "[tool",
    "pytest.ini": "[pytest",
    ".env": "RNNLAB_HOME=/nowhere\nNUMBA_DISABLE_JIT=1",
    "pyvenv.cfg": "home = /nowhere",
    "evil.pth": "import sys; sys.exit(9)",
    "python._pth": "nowhere",
    "cuda.config": "x",
    "omp.cfg": "x",
    "bwrap": "#!/bin/sh\nexit 9\n",
}
SCRIPT = Path(sysconfig.get_path("scripts")) / "rnnlab"
WAYS = {
    "rnnlab": [str(SCRIPT)],
    "python -m": [sys.executable, "-m", "rnncourse.cli"],
}


@pytest.fixture
def trap(tmp_path):
    """A folder with every file known that could configure a program started in it, and who read any."""
    folder = tmp_path / "submission"
    folder.mkdir()
    seen = tmp_path / "seen"
    for module in MODULES:
        (folder / f"{module}.py").write_text(MARK.format(path=str(seen)))
    for name, content in SETTINGS.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "bwrap").chmod(0o755)
    shutil.copy(SCRIPT, folder / "driver.so")  # no library at all: to load it is an error
    return folder, seen


def graded(folder, way, *options, **environment):
    """(exit status, report, standard error) of a grade started in a folder."""
    report = folder / "report.json"
    command = [*WAYS[way], "grade", *options, "--json", report.name]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=600
    )
    return done.returncode, json.loads(report.read_text()) if report.exists() else None, done.stderr


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", [(), ("--plain",)], ids=["sandbox", "plain"])
def test_no_file_beside_a_submission_is_read_by_the_judge(trap, way, mode):
    folder, seen = trap
    if not SCRIPT.exists():
        pytest.skip("install the package (pip install -e .): it brings the rnnlab command")
    shutil.copy(ROOT / "solutions/00_start_here.ipynb", folder)
    status, report, error = graded(folder, way, "00_start_here.ipynb", *mode, PATH=f".:{os.environ['PATH']}")
    assert (status, report["score"], error) == (0, 6, "")
    assert not seen.exists(), f"imported from the submission's folder: {seen.read_text()}"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.slow
def test_numba_settings_beside_a_submission_neither_give_nor_cost_a_point(trap, way):
    folder, seen = trap
    (folder / ".numba_config.yaml").write_text(": no YAML [")
    for kind, score in (("exercises", 0), ("solutions", 4)):
        shutil.copy(ROOT / kind / "09_cuda_first_kernels.ipynb", folder)
        only = ("09_cuda_first_kernels.ipynb", "--only", "fix_the_race")
        status, report, error = graded(folder, way, *only)
        assert (status, error) == (int(not score), "")
        assert bool(report["score"]) == bool(score)
    assert not seen.exists()


def test_a_package_of_our_name_beside_a_submission_is_not_the_one_that_runs(trap):
    folder, seen = trap
    for name in PACKAGES:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(MARK.format(path=str(seen)))
    (folder / "rnncourse" / "cli.py").write_text("raise SystemExit(0)")
    shutil.copy(ROOT / "exercises/00_start_here.ipynb", folder)
    status, report, _ = graded(folder, "rnnlab", "00_start_here.ipynb")
    assert (status, report["score"]) == (1, 0)
    assert not seen.exists()


def test_the_working_directory_and_the_environment_are_as_before_afterwards(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setenv("RNNLAB_HOME", "home")
    before = dict(os.environ)
    with clean_start():
        inside = os.getcwd()
        assert inside != str(tmp_path)
        assert os.listdir() == []
        assert "NUMBA_DISABLE_JIT" not in os.environ
        assert os.environ["RNNLAB_HOME"] == str(tmp_path / "home")
        assert os.stat(inside).st_mode & 0o077 == 0
    assert (os.getcwd(), dict(os.environ)) == (str(tmp_path), before)
    assert not os.path.exists(inside)
