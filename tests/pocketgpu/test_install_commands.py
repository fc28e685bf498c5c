"""Commands that install what pocketgpu lacks can be pasted, wherever Python is installed."""

import shlex
import sys

import pytest

from pocketgpu import imports, remedies
from pocketgpu.compiling import compilers

PYTHON = "/home/Ann Lee's/venv/bin/python"


def words_of(message):
    """Words of the command behind the message's last colon, as a shell reads them."""
    return shlex.split(message.rpartition(": ")[2])


@pytest.fixture
def folder_with_a_space(monkeypatch):
    monkeypatch.setattr(sys, "executable", PYTHON)
    monkeypatch.setattr(remedies.os, "name", "posix")


@pytest.mark.usefixtures("folder_with_a_space")
def test_the_command_for_missing_compilers_can_be_pasted(monkeypatch):
    monkeypatch.setattr(compilers, "find_spec", lambda name: None)
    words = words_of(compilers.missing())
    assert words[:5] == [PYTHON, "-m", "pip", "install", f"{compilers.DISTRIBUTION}[compile]"]


@pytest.mark.usefixtures("folder_with_a_space")
def test_the_command_for_numba_can_be_pasted():
    with pytest.raises(ModuleNotFoundError) as refusal:
        imports.Missing("numba", f"{imports.NO_NUMBA} module").find_spec("numba.core")
    assert words_of(str(refusal.value)) == [PYTHON, "-m", "pip", "install", "numba"]


def test_windows_quotes_in_its_own_way(monkeypatch):
    with monkeypatch.context() as patches:
        patches.setattr(sys, "executable", r"C:\Program Files\Python\python.exe")
        patches.setattr(remedies.os, "name", "nt")
        command = remedies.pip_install("numba")
    assert command == r'"C:\Program Files\Python\python.exe" -m pip install numba'


@pytest.mark.parametrize("executable", ["", None])
def test_an_embedded_python_that_knows_no_program_is_called_by_name(monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    assert remedies.pip_install("numba") == "python -m pip install numba"
