"""`.ci/newcomer` gives README's commands as an ordinary user does, and sees what comes of them.

Nothing is installed: `make lab` is played by a small server.
"""

import importlib.util
import os
import shutil
import socket
import sys
from importlib.machinery import SourceFileLoader

import pytest

from nbjudge.authoring.course import ROOT

SERVER = """
import http.server, json, sys
title, port = sys.argv[1], int(sys.argv[2].split()[-1])

class Lab(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if "token=abc" in self.path else 403)
        self.end_headers()
        if "/api/contents/notebooks/00_start_here.ipynb" in self.path:
            self.wfile.write(json.dumps({"content": {"cells": [{"source": title}]}}).encode())
        else:
            self.wfile.write(b'<script id="jupyter-config-data">')

print("set up\\n    http://localhost:%d/lab/tree/notebooks/00_start_here.ipynb?token=abc" % port, flush=True)
http.server.HTTPServer(("127.0.0.1", port), Lab).serve_forever()
"""


@pytest.fixture(scope="module")
def newcomer():
    """The program as a module."""
    loader = SourceFileLoader("newcomer", str(ROOT / ".ci/newcomer"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("newcomer", loader))
    loader.exec_module(module)
    return module


def test_no_variable_of_continuous_integration_or_python_arrives(newcomer, tmp_path, monkeypatch):
    for name in ("CI", "CUDA_EXTRA", "CI_EXTRA", "PYTHON", "PYTHONPATH", "RNNLAB_CUDA", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("https_proxy", "http://proxy.example:1")
    monkeypatch.setenv("PIP_CERT", "/a/certificate")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    (tmp_path / "settings/pip").mkdir(parents=True)
    (tmp_path / "settings/pip/pip.conf").write_text("[global]\n")
    home = tmp_path / "home"
    home.mkdir()
    variables = newcomer.environment([], home, str(tmp_path))
    assert {"HOME", "PATH", "https_proxy", "PIP_CERT"} <= variables.keys()
    assert os.path.samefile(variables["TMPDIR"], home / "tmp")  # /tmp may hold another account's
    assert not [name for name in variables if name.startswith(("CI", "CUDA", "PYTHON", "RNNLAB", "VIRTUAL"))]
    assert (home / ".config/pip/pip.conf").read_text() == "[global]\n"


def test_the_path_has_python_make_and_git_and_nothing_that_a_bare_machine_lacks(
    newcomer, tmp_path, monkeypatch
):
    path = newcomer.bare_path(tmp_path / "bin", sys.executable)
    assert all(shutil.which(name, path=path) for name in ("python3", "make", "git", "sh"))
    absent = "bwrap chromium chromedriver gcc g++ cc c++ clang ld mpirun mpiexec node nvcc sudo apt-get"
    assert not [name for name in absent.split() if shutil.which(name, path=path)]
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="make"):
        newcomer.bare_path(tmp_path / "other", sys.executable)


def test_the_oldest_supported_python_that_can_make_an_environment_is_taken(newcomer, tmp_path, monkeypatch):
    pythons = newcomer.pythons()
    versions = [tuple(map(int, newcomer.version_of(python).split("."))) for python in pythons]
    assert versions == sorted(versions)
    assert all((3, 11) <= version < (3, 15) for version in versions)
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(newcomer, "pythons", lambda: [broken, *pythons])
    assert newcomer.oldest_python([]) in pythons
    monkeypatch.setattr(newcomer, "pythons", lambda: [broken])
    assert newcomer.oldest_python([]) is None


def test_without_programs_that_change_the_user_the_present_one_stands_in(
    newcomer, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(newcomer.os, "geteuid", lambda: 0)
    assert newcomer.borrowed_account(tmp_path / "home") == []
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_lesson_00_is_read_from_jupyterlab_which_then_ends(newcomer, tmp_path, capsys):
    newcomer.answer_of_lab([sys.executable, "-c", SERVER, "# 00 · Start here"], cwd=tmp_path, env=os.environ)
    address = newcomer.address_in(capsys.readouterr().out.splitlines())
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", address.port)) != 0


@pytest.mark.parametrize("program", [SERVER, "print('set up'); raise SystemExit(2)"])
def test_another_page_or_an_end_without_an_address_is_a_failure(newcomer, tmp_path, program):
    with pytest.raises(SystemExit, match="newcomer: "):
        newcomer.answer_of_lab([sys.executable, "-c", program, "# 01 · RNN"], cwd=tmp_path, env=os.environ)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root borrows an account")
def test_root_gives_the_commands_as_somebody_else(newcomer, tmp_path, monkeypatch):
    monkeypatch.setattr(newcomer, "ACCOUNT", "no-such-account")  # so that none is made: nobody remains
    monkeypatch.setattr(newcomer.shutil, "which", lambda name: None)
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)
    user = newcomer.borrowed_account(tmp_path / "home")
    if not user:
        pytest.skip("this machine lets root become nobody else")
    assert newcomer.works(user, ["test", "-w", tmp_path / "home"])
    assert not newcomer.works(user, ["test", "-w", tmp_path])
