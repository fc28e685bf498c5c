"""`rnnlab lab` starts JupyterLab at the right place, or says in a sentence why it can't."""

import errno
import json
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.services.contents.manager import ContentsManager
from tornado.websocket import de_dupe_gen_log
from traitlets.config import Application
from values_in import holds

from rnncourse.cli import main
from rnncourse.lab import jupyterlab
from rnncourse.lab.jupyterlab import NotReady


def course_of(folder, *lessons):
    for part in ("notebooks", "exercises"):
        (folder / part).mkdir()
        for name in lessons:
            (folder / part / f"{name}.ipynb").write_text("{}")
    return folder


def test_the_command_opens_the_lesson_and_serves_the_whole_course():
    line = jupyterlab.command(Path("notebooks/00_start_here.ipynb"), 8890, browser=False)
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in line
    assert "--port=8890" in line
    assert "--no-browser" in line
    assert "--no-browser" not in jupyterlab.command(Path("notebooks/00_start_here.ipynb"), 8890, browser=True)


def test_a_lesson_is_found_by_its_number(tmp_path):
    root = course_of(tmp_path, "00_start_here", "02_bptt")
    assert (
        jupyterlab._notebook(root, "02") == jupyterlab._notebook(root, "2") == Path("notebooks/02_bptt.ipynb")
    )
    with pytest.raises(NotReady, match=r"'09'.*00_start_here.*02_bptt"):
        jupyterlab._notebook(root, "09")


def test_without_lessons_nobody_is_sent_to_install_jupyterlab(tmp_path, monkeypatch):
    monkeypatch.setattr(jupyterlab, "find_spec", lambda name: None)
    monkeypatch.setattr(jupyterlab.work, "ROOT", tmp_path)
    with pytest.raises(NotReady, match="clone"):
        jupyterlab.serve()


def test_a_lesson_with_a_new_number_is_told_with_both_names_of_the_copy(tmp_path, capsys):
    root = course_of(tmp_path, "02_bptt", "03_training")
    jupyterlab._copy_exercises(root)
    for old, new in (("02_bptt", "03_bptt"), ("03_training", "04_training")):
        (root / f"work/{old}.ipynb").write_text("my answer")
        (root / f"exercises/{old}.ipynb").rename(root / f"exercises/{new}.ipynb")
    (root / "work/03_bptt.ipynb").write_text("my other answer")
    capsys.readouterr()
    jupyterlab._copy_exercises(root)
    renamed, both = capsys.readouterr().out.splitlines()
    assert holds(renamed, "work/03_training.ipynb", "work/04_training.ipynb")
    assert holds(both, "work/02_bptt.ipynb", "work/03_bptt.ipynb")


def test_a_changed_exercise_is_told_with_what_became_of_the_copy(tmp_path, capsys):
    root = course_of(tmp_path, "00_start_here", "02_bptt")
    for _ in range(2):
        jupyterlab._copy_exercises(root)
    assert capsys.readouterr().out.count("made work/00_start_here.ipynb") == 1
    (root / "work/00_start_here.ipynb").write_text("my answer")
    for name in ("00_start_here", "02_bptt"):
        (root / f"exercises/{name}.ipynb").write_text('{"cells": []}')
    jupyterlab._copy_exercises(root)
    replaced, old = capsys.readouterr().out.splitlines()
    assert holds(replaced, "work/02_bptt.ipynb")
    assert holds(old, "work/00_start_here.ipynb", "exercises/00_start_here.ipynb")
    assert (root / "work/00_start_here.ipynb").read_text() == "my answer"


def test_a_folder_that_cannot_be_written_is_told_with_a_remedy(tmp_path):
    root = course_of(tmp_path, "00_start_here")
    (root / "work").write_text("a file where the folder should be")
    with pytest.raises(NotReady, match=r"\bwork\b"):
        jupyterlab._copy_exercises(root)


def test_a_folder_in_which_answers_cannot_be_saved_is_told_before_anybody_answers(tmp_path, monkeypatch):
    root = course_of(tmp_path, "00_start_here")
    jupyterlab._copy_exercises(root)
    monkeypatch.setattr(jupyterlab.os, "access", lambda path, mode: False)
    with pytest.raises(NotReady, match=r"/work\b"):
        jupyterlab._copy_exercises(root)


def test_a_busy_port_is_told_and_without_one_the_next_is_taken(monkeypatch):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        taken = busy.getsockname()[1]
        with pytest.raises(NotReady, match=rf"\b{taken}\b.*--port"):
            jupyterlab._port(taken)
    monkeypatch.setattr(jupyterlab, "_port_problem", lambda port: "is in use" if port < 8890 else None)
    assert jupyterlab._port(None) == 8890
    monkeypatch.setattr(jupyterlab, "_port_problem", lambda port: "is in use")
    with pytest.raises(NotReady, match="is in use: choose another"):
        jupyterlab._port(None)


def test_a_port_that_a_program_uses_over_ipv6_alone_is_busy(monkeypatch):
    """Jupyter binds every address of localhost."""
    addresses = [(family, 1, 6, "", (host, 0)) for family, host in ((2, "127.0.0.1"), (10, "::1"))]

    def refuse(address, family):
        if address[0] == "::1":
            raise OSError(errno.EADDRINUSE, "taken")
        return socket.socket()

    monkeypatch.setattr(socket, "getaddrinfo", lambda *arguments, **options: addresses)
    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(NotReady, match=r"\b8888\b.*--port"):
        jupyterlab._port(8888)


@pytest.mark.parametrize("port", [-1, 0, 65536])
def test_a_port_that_does_not_exist_is_told(port):
    with pytest.raises(NotReady, match=f"{port} .*65535"):
        jupyterlab._port(port)


def test_trouble_is_a_sentence_on_the_command_line(monkeypatch, capsys):
    assert main(["lab", "--lesson", "99"]) == 2
    assert holds(capsys.readouterr().err, "'99'", "00_start_here")


def test_without_jupyterlab_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(jupyterlab, "find_spec", lambda name: None)
    with pytest.raises(NotReady, match="run `make lab`"):
        jupyterlab.serve()


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Command lines and environments that the process was to become, in a small course."""
    calls = []
    monkeypatch.setattr(jupyterlab.os, "execve", lambda program, line, env: calls.append((line, env)))
    monkeypatch.setattr(jupyterlab.subprocess, "run", lambda line, env: SimpleNamespace(returncode=0))
    monkeypatch.setattr(jupyterlab.work, "ROOT", course_of(tmp_path, "00_start_here", "02_bptt"))
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path / "home"))
    return calls


def test_a_variable_that_overrides_the_blas_is_named_and_stays(monkeypatch, started, capsys):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/theirs")
    before = dict(os.environ)
    jupyterlab.serve(browser=False)
    ((line, env),) = started
    assert "--no-browser" in line
    assert env["OPENBLAS_CORETYPE"] == "Prescott"
    assert env["JUPYTER_CONFIG_PATH"] == f"{jupyterlab.SETTINGS}{os.pathsep}/theirs"
    assert dict(os.environ) == before
    assert holds(capsys.readouterr().out, "OPENBLAS_CORETYPE=Prescott")


def test_without_such_a_variable_nothing_is_said_of_the_blas(monkeypatch, started, capsys):
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    jupyterlab.serve("02")
    ((line, env),) = started
    assert "--LabApp.default_url=/lab/tree/notebooks/02_bptt.ipynb" in line
    assert {
        name: env[name] for name in os.environ if name not in ("JUPYTER_CONFIG_PATH", "JUPYTER_PATH", "PATH")
    }.items() <= os.environ.items()
    assert "OpenBLAS" not in capsys.readouterr().out


def test_jupyter_writes_below_work_where_it_cannot_write_at_home(monkeypatch, tmp_path, capsys):
    for name in (
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_RUNTIME_DIR",
        "JUPYTER_DATA_DIR",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    (tmp_path / "home").write_text("a file where the home should be")
    environment = jupyterlab._with_settings(dict(os.environ), tmp_path / "work")
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
        assert environment[name] == str(tmp_path / "work/.jupyter" / name.lower())
    assert environment["IPYTHONDIR"] == str(tmp_path)
    assert capsys.readouterr().out.count("Jupyter") == 1


def test_jupyter_writes_below_work_where_the_system_knows_no_home(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "work").mkdir()
    environment = jupyterlab._with_settings(dict(os.environ), tmp_path / "work")
    assert environment["HOME"] == str(tmp_path / "work/.jupyter")
    assert "You have no home here" in capsys.readouterr().out


def test_a_home_that_can_be_written_is_used(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    environment = jupyterlab._with_settings(dict(os.environ), tmp_path / "work")
    added = {*environment} - {*os.environ}
    assert added <= {"JUPYTER_CONFIG_PATH", "JUPYTER_PATH", "JUPYTERLAB_WORKSPACES_DIR"}
    assert not capsys.readouterr().out


@pytest.mark.parametrize("path", ["/usr/bin:/bin", None])
def test_the_courses_programs_come_first_on_the_path_of_cells_and_terminals(tmp_path, path):
    environment = {"HOME": str(tmp_path)} if path is None else {"HOME": str(tmp_path), "PATH": path}
    search_path = jupyterlab._with_settings(environment, tmp_path / "work")["PATH"]
    assert os.path.samefile(shutil.which("rnnlab", path=search_path), Path(sys.executable).parent / "rnnlab")
    assert shutil.which("ls", path=search_path)


FIND_KERNELS = """
from jupyter_client.kernelspec import KernelSpecManager
print([KernelSpecManager().get_kernel_spec(name).argv[0] for name in ("python3", "other")])
"""


@pytest.mark.parametrize("prefer_env", ["0", "1"])
def test_a_kernel_python3_of_another_python_does_not_come_first_and_others_stay(tmp_path, prefer_env):
    for name in ("python3", "other"):
        (tmp_path / "kernels" / name).mkdir(parents=True)
        spec = {"argv": ["/of/another/python", "-f", "{connection_file}"], "display_name": "Python 3"}
        (tmp_path / "kernels" / name / "kernel.json").write_text(json.dumps({**spec, "language": "python"}))
    theirs = dict(os.environ) | {"JUPYTER_PATH": str(tmp_path), "JUPYTER_PREFER_ENV_PATH": prefer_env}
    programs = []
    for env in (theirs, jupyterlab._with_settings(dict(theirs), tmp_path / "work")):
        line = [sys.executable, "-c", FIND_KERNELS]
        programs.append(subprocess.run(line, env=env, capture_output=True, text=True, check=True).stdout)
    assert programs[0].count("/of/another/python") == 2
    assert programs[1].count("/of/another/python") == 1


def test_the_address_is_printed_whether_or_not_a_token_is_set(monkeypatch, started, capsys):
    monkeypatch.setenv("JUPYTER_TOKEN", "abc")
    jupyterlab.serve("02", port=None, browser=False)
    printed = capsys.readouterr().out
    assert re.search(r"http://localhost:\d+/lab/tree/notebooks/02_bptt\.ipynb", printed)
    assert "abc" not in printed


def settings_of_the_server():
    """What Jupyter reads of the course's folder, JSON and Python together."""
    server = Application()
    server.load_config_file("jupyter_server_config", path=str(jupyterlab.SETTINGS))
    return server.config


def test_no_connection_is_given_up_before_its_first_ping():
    settings = settings_of_the_server().get("ServerApp", {}).get("tornado_settings", {})
    socket = SimpleNamespace(settings=settings, ping_interval=WebSocketMixin.ping_interval.fget(
        SimpleNamespace(settings=settings)))  # fmt: skip
    assert socket.ping_interval == 0 or WebSocketMixin.ping_timeout.fget(socket) > socket.ping_interval


def test_of_tornados_log_only_the_line_on_pings_is_left_out(caplog):
    log = logging.getLogger("tornado.general")
    settings_of_the_server()
    try:
        de_dupe_gen_log(logging.WARNING, "The websocket_ping_timeout (90000) cannot be longer than 30000.")
        log.warning("%s of %s", "a malformed message", "somebody")
        assert [record.getMessage() for record in caplog.records] == ["a malformed message of somebody"]
    finally:
        log.filters.clear()


def test_jupyterlab_is_told_to_ask_nothing_at_its_first_start():
    assert "announcements" in (jupyterlab.SETTINGS / "labconfig/page_config.json").read_text()


def test_the_file_list_shows_no_folder_for_authors_and_lesson_names_whole():
    hidden = json.loads((jupyterlab.SETTINGS / "jupyter_server_config.json").read_text())["ContentsManager"]
    manager = ContentsManager(**hidden)
    assert {*ContentsManager().hide_globs} < {*manager.hide_globs}
    assert not manager.should_list("source")
    assert manager.should_list("02_bptt.ipynb")
    place = jupyterlab.SETTINGS / "labconfig/default_setting_overrides.json"
    for plugin, settings in json.loads(place.read_text()).items():
        package, name = plugin.split(":")
        schema = Path(sys.prefix) / f"share/jupyter/lab/schemas/{package}/{name}.json"
        assert settings.keys() <= json.loads(schema.read_text())["properties"].keys()


def test_the_layout_of_the_first_start_is_written_once(tmp_path):
    folder = Path(jupyterlab._layouts(tmp_path / "work"))
    (layout,) = folder.iterdir()
    assert folder.is_relative_to(tmp_path / "work")
    left = json.loads(layout.read_text())["data"]["layout-restorer:data"]["left"]
    assert (left["current"], left["collapsed"]) == ("@jupyterlab/toc:plugin", False)
    layout.write_text("as the learner left it")
    jupyterlab._layouts(tmp_path / "work")
    assert layout.read_text() == "as the learner left it"
