"""Grading by a user who is not root, in both modes: a class is graded by an ordinary account.

Where the tests run as root, they borrow the user `nobody`. Root's Python may lie where nobody else can read,
as pyenv's does; then the user gets a copy of it, without its packages.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from attacks_table import PATIENT, attacks

from nbjudge.running.sandbox import CHECKOUT

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
LEFT_OUT = shutil.ignore_patterns(
    "site-packages", "test", "__pycache__", "idlelib", "config-*", "share", "*.a"
)
SAMPLE = [attack for attack in attacks() if attack.seconds in (0, PATIENT)][::9]


@pytest.fixture(scope="module")
def ordinary():
    """What runs a command of Python as an ordinary user: run(*arguments)."""
    user = AS_NOBODY if os.geteuid() == 0 else []
    if user and not shutil.which("setpriv"):
        pytest.skip(
            "root has no other user to grade as: install setpriv (Debian: apt-get install util-linux)"
        )
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        python = _readable_python(Path(folder), user)
        home = Path(folder, "home")
        home.mkdir()
        os.chmod(home, 0o777)
        packages = f"{Path(np.__file__).parents[1]}:{CHECKOUT}"
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": packages}

        def run(*arguments):
            command = [*user, python, "-P", *map(str, arguments)]
            return subprocess.run(
                command, cwd=home, env=environment, capture_output=True, text=True, timeout=600
            )

        if user and run("-c", "import numpy, rnnlab").returncode:
            pytest.skip(f"another user cannot read {packages}: install the course where others may read it")
        yield run


def _readable_python(folder, user):
    """A path of this Python that the user may read."""
    original = Path(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))
    trial = [*user, "sh", "-c", '"$0" -c ""', original]  # by the shell: setpriv itself may still read all
    if subprocess.run(trial, capture_output=True).returncode == 0:
        return str(original)
    base = Path(sys.base_prefix)
    shutil.copytree(base, folder / "python", ignore=LEFT_OUT, symlinks=True)
    return str(folder / "python" / original.relative_to(base))


def mode_works(ordinary, mode):
    """Skips where bubblewrap is not allowed to this user."""
    program = "from nbjudge.running.sandbox import choose; print(choose().why)"
    why = ordinary("-c", program).stdout.strip() if mode == "bubblewrap" else ""
    if why:
        pytest.skip(f"an ordinary user is not allowed bubblewrap: {why}")


@pytest.mark.parametrize("mode", ["plain", "bubblewrap"])
def test_an_ordinary_user_grades_a_solved_notebook_with_full_marks(ordinary, mode):
    mode_works(ordinary, mode)
    options = ["--plain"] if mode == "plain" else ["--require-sandbox"]
    done = ordinary("-m", "rnncourse.cli", "grade", CHECKOUT / "solutions/00_start_here.ipynb", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"start_here: 6 of 6 points · sandbox: {mode}" in done.stdout


@pytest.mark.slow
def test_attacks_on_an_ordinary_user_get_what_they_get_from_root(ordinary):
    mode_works(ordinary, "bubblewrap")
    otherwise = []
    for attack in SAMPLE:
        done = ordinary(CHECKOUT / "tests/attacks_table.py", attack.name)
        if done.stdout.strip() != attack.deserves:
            otherwise.append((attack.name, done.stdout, done.stderr))
    assert not otherwise
