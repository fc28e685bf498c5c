"""`rnnlab lab` starts JupyterLab at the right place, or says in a sentence why it can't."""

import os
import socket
from pathlib import Path

import pytest

from rnnlab.machine import lab
from rnnlab.machine.lab import NotReady


def course_of(folder, *lessons):
    for part in ("notebooks", "exercises"):
        (folder / part).mkdir()
        for name in lessons:
            (folder / part / f"{name}.ipynb").write_text("{}")
    return folder


def test_the_command_opens_the_lesson_and_serves_the_whole_course():
    line = lab.command(Path("notebooks/00_start_here.ipynb"), 8890, browser=False)
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in line
    assert "--port=8890" in line
    assert "--no-browser" in line
    assert "--no-browser" not in lab.command(Path("notebooks/00_start_here.ipynb"), 8890, browser=True)


def test_a_lesson_is_found_by_its_number(tmp_path):
    root = course_of(tmp_path, "00_start_here", "02_bptt")
    assert lab._notebook(root, "02") == Path("notebooks/02_bptt.ipynb")
    with pytest.raises(NotReady, match="there is no lesson '09'; there are 00_start_here, 02_bptt"):
        lab._notebook(root, "09")


def test_outside_a_clone_it_says_where_to_go(tmp_path):
    with pytest.raises(NotReady, match=r"holds no notebooks/: run rnnlab in a clone of the course"):
        lab._notebook(tmp_path, "00")


def test_copies_are_made_once_and_named(tmp_path, capsys):
    root = course_of(tmp_path, "00_start_here")
    lab._copy_exercises(root)
    answer = root / "work/00_start_here.ipynb"
    answer.write_text("my answer")
    lab._copy_exercises(root)
    assert answer.read_text() == "my answer"
    assert capsys.readouterr().out.count("made work/00_start_here.ipynb") == 1


def test_a_folder_that_cannot_be_written_is_told_with_a_remedy(tmp_path):
    root = course_of(tmp_path, "00_start_here")
    (root / "work").write_text("a file where the folder should be")
    with pytest.raises(NotReady, match="cannot make your copy"):
        lab._copy_exercises(root)


def test_a_busy_port_is_told_and_without_one_the_next_is_taken():
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        taken = busy.getsockname()[1]
        with pytest.raises(NotReady, match=f"port {taken} is in use: choose another with --port N"):
            lab._port(taken)
    assert lab.FIRST_PORT <= lab._port(None) <= lab.LAST_PORT


def test_without_jupyterlab_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(lab, "find_spec", lambda name: None)
    with pytest.raises(NotReady, match="run `make lab`"):
        lab.serve()


def test_kernels_get_the_better_environment_and_the_learners_shell_keeps_its_own(monkeypatch, tmp_path):
    from rnnlab.machine.blas import Diagnosis, Trial

    started = {}

    class Done:
        returncode = 0

    slow, fast = Trial((), "Prescott", 50.0), Trial((("OPENBLAS_CORETYPE", None),), "SkylakeX", 200.0)
    better = {"PATH": "/bin", "JUPYTER_CONFIG_PATH": "/theirs"}
    monkeypatch.setattr(lab.blas, "better_environment", lambda env, cache: (better, Diagnosis(slow, fast)))
    monkeypatch.setattr(lab.subprocess, "run", lambda line, env, cwd: started.update(env=env) or Done())
    monkeypatch.setattr(lab.course, "ROOT", course_of(tmp_path, "00_start_here"))
    before = dict(os.environ)
    assert lab.serve(browser=False) == 0
    assert "OPENBLAS_CORETYPE" not in started["env"]
    assert started["env"]["JUPYTER_CONFIG_PATH"] == f"{lab.SETTINGS}{os.pathsep}/theirs"
    assert dict(os.environ) == before


def test_jupyterlab_is_told_to_ask_nothing_at_its_first_start():
    assert "announcements" in (lab.SETTINGS / "labconfig/page_config.json").read_text()
