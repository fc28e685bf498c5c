"""An environment belongs to one folder, one Python, one content of the lists; a failure is one sentence.

Nothing is downloaded: environments are made without packages, and pip's part is played by `install`.
"""

import errno
import json
import os
import shutil
import subprocess
import sys

import pytest
from values_in import holds

from rnncourse.lab import environment
from rnncourse.lab.environment import NotSetUp

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder with the two lists of packages, in which installing is only noted."""
    root = tmp_path / "clone"
    root.mkdir()
    for name in environment.LISTS:
        (root / name).write_text(f"first {name}")
    installed = []
    monkeypatch.setattr(environment, "ROOT", root)

    def install(folder, extras, options):
        installed.append(extras)
        add_numpy(folder)

    monkeypatch.setattr(environment, "install", install)
    monkeypatch.setattr(subprocess, "run", without_pip(subprocess.run))
    return root, installed


@pytest.fixture
def ready_clone(clone):
    """The same with an environment that is set up."""
    environment.set_up(clone[0] / ".venv", ["lab"])
    return clone


def add_numpy(folder):
    """The one file by which an environment with packages is known."""
    package = folder / "lib/python3/site-packages/numpy"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").touch()


def without_pip(run):
    """`python -m venv` without pip, which takes seconds to unpack and is not asked for here."""
    return lambda line, **more: run([*line, *(["--without-pip"] if "venv" in line else [])], **more)


def test_a_complete_environment_is_left_alone_whatever_the_times_of_its_lists(ready_clone):
    root, installed = ready_clone
    (root / "pyproject.toml").touch()
    environment.set_up(root / ".venv", ["lab"])
    assert installed == [["lab"]]


def test_a_changed_list_and_an_extra_that_is_new_are_installed(ready_clone):
    root, installed = ready_clone
    environment.set_up(root / ".venv", ["lab", "dev"])
    environment.set_up(root / ".venv", ["lab"])
    assert installed == [["lab"], ["lab", "dev"]]
    (root / "constraints.txt").write_text("second")
    environment.set_up(root / ".venv", ["lab"])
    assert installed[2:] == [["lab"]]


@pytest.mark.parametrize("way", ["copied", "moved"])
def test_a_copied_or_moved_clone_gets_an_environment_of_its_own(ready_clone, monkeypatch, capsys, way):
    root, installed = ready_clone
    other = root.with_name("other")
    (shutil.move if way == "moved" else shutil.copytree)(root, other)
    (other / ".venv/left").write_text("from the first place")
    monkeypatch.setattr(environment, "ROOT", other)
    environment.set_up(other / ".venv", ["lab"])
    assert "copied or moved" in capsys.readouterr().out
    assert not (other / ".venv/left").exists()
    assert environment.read_note(other / ".venv")["folder"] == str(other / ".venv")
    assert len(installed) == 2
    assert (root / ".venv").exists() == (way == "copied")


def test_a_linked_environment_of_another_clone_is_unlinked_and_not_emptied(ready_clone, monkeypatch):
    root, _ = ready_clone
    other = root.with_name("other")
    other.mkdir()
    for name in environment.LISTS:
        shutil.copy(root / name, other)
    (other / ".venv").symlink_to(root / ".venv")
    monkeypatch.setattr(environment, "ROOT", other)
    environment.set_up(other / ".venv", ["lab"])
    assert not (other / ".venv").is_symlink()
    assert environment.read_note(root / ".venv")["folder"] == str(root / ".venv")


@pytest.mark.parametrize("fault", ["Python is gone", "another version"])
def test_an_environment_whose_python_is_gone_or_another_version_is_made_anew(ready_clone, capsys, fault):
    root, installed = ready_clone
    if fault == "another version":
        note = environment.read_note(root / ".venv") | {"version": "3.9"}
        environment.write_note(root / ".venv", note)
    else:
        environment.interpreter(root / ".venv").unlink()
    environment.set_up(root / ".venv", ["lab"])
    words = ("3.9", VERSION) if fault == "another version" else (".venv", "anew")
    assert holds(capsys.readouterr().out, *words)
    assert environment.python_of(root / ".venv") == (VERSION, environment.own_base())
    assert len(installed) == 2


def test_another_python_counts_only_where_it_was_chosen(ready_clone, monkeypatch, capsys):
    root, installed = ready_clone
    own = environment.own_base()
    monkeypatch.setattr(environment, "python_of", lambda folder: (VERSION, "/another/python"))
    environment.set_up(root / ".venv", ["lab"])
    assert len(installed) == 1
    environment.set_up(root / ".venv", ["lab"], python_chosen=True)
    assert f"of /another/python, and {own} is required" in capsys.readouterr().out
    assert len(installed) == 2


def test_an_interrupted_set_up_goes_on_in_what_stands(clone, monkeypatch):
    root, installed = clone

    def interrupted(folder, extras, options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(environment, "install", interrupted)
        with pytest.raises(KeyboardInterrupt):
            environment.set_up(root / ".venv", ["lab"])
    (root / ".venv/half").write_text("a package")
    environment.set_up(root / ".venv", ["lab"])
    assert (root / ".venv/half").exists()
    assert installed == [["lab"]]


@pytest.mark.parametrize(
    ("else_older", "untouched", "starts"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_without_a_network_an_older_set_up_does_only_if_that_is_enough_and_whole(
    ready_clone, monkeypatch, capsys, else_older, untouched, starts
):
    root, _ = ready_clone
    (root / "constraints.txt").write_text("second")

    def offline(folder, extras, options):
        raise NotSetUp("no answer", untouched)

    monkeypatch.setattr(environment, "install", offline)
    arguments = [*(["--else-older"] if else_older else []), ".venv", "lab"]
    assert environment.main(arguments) == (0 if starts else 1)
    printed = capsys.readouterr()
    assert ("stays so: no answer" in printed.out) == starts
    assert (".venv is not set up: no answer" in printed.err) != starts
    assert environment.main(["--else-older", ".venv", "lab,dev"]) == 1  # dev was never installed


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("WARNING: Retrying after connection broken by 'NewConnectionError(...)'", "index does not answer"),
        (
            "ERROR: No matching distribution found for setuptools (from versions: none)",
            "index does not answer",
        ),
        ("OSError: [Errno 28] No space left on device", "the disk is full. Free 2 GB; the same command"),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]'))", "not trusted here"),
        ("ERROR: No matching distribution found for llvmlite==0.47.0", "not built for this system"),
        (  # what pip says where a version is pinned
            "ERROR: Cannot install rnnlab because these package versions have conflicting dependencies.\n"
            "    The user requested (constraint) numba==0.65.1\nERROR: ResolutionImpossible: for help visit",
            "not built for this system",
        ),
        ("ERROR: first\nERROR: the last one\nnote: not with pip", "ERROR: the last one .all of it: .*log"),
        ("", "pip failed"),
    ],
)
def test_twenty_lines_of_pip_become_one_sentence(tmp_path, output, sentence):
    with pytest.raises(NotSetUp, match=sentence) as problem:
        raise environment.failure(tmp_path, f"Collecting numpy\n{output}\n")
    assert problem.value.untouched
    assert "\n" not in str(problem.value)
    assert not environment.failure(tmp_path, f"Installing collected packages: a\n{output}").untouched


def test_who_waits_hears_of_large_downloads_and_of_the_number_of_packages():
    assert [*environment.progress("Downloading packages/llvmlite-0.47.0-cp311.whl (56.3 MB)")] == [
        "downloading llvmlite, 56 MB"
    ]
    assert [*environment.progress("  Downloading scipy-1.17.1-cp311-manylinux.whl.metadata (62 kB)")] == []
    assert [*environment.progress("  Downloading numba-0.65.1-cp311.whl (3.7 MB)")] == []
    assert [*environment.progress("Installing collected packages: a, b, c")] == ["installing 3 packages"]


def program(folder, text):
    """An executable with this text."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "python").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "python").chmod(0o755)
    return folder / "python"


@pytest.mark.parametrize(
    ("script", "name", "sentence"),
    [
        ("exit 1", ".venv", "sudo apt-get install python3-venv"),
        ('test "$2" = -c || exit 1', "a:b", "an environment cannot stand in a folder with ':' in its name"),
        ('test "$2" = -c || { echo broken >&2; exit 1; }', ".venv", "-m venv failed: broken"),
    ],
)
def test_the_remedy_fits_the_reason_for_which_no_environment_can_be_made(
    clone, monkeypatch, script, name, sentence
):
    root, _ = clone
    python = program(root / "stand-in", script)
    monkeypatch.setattr(environment, "own_base", lambda: str(python))
    with pytest.raises(NotSetUp, match=sentence.replace("(", r"\(")):
        environment.set_up(root / name, ["lab"])


def test_a_folder_that_cannot_be_written_is_no_reason_to_install_debians_package(clone, monkeypatch):
    root, _ = clone
    monkeypatch.setattr(environment, "own_base", lambda: str(program(root, 'test "$2" = -c')))
    monkeypatch.setattr(environment.os, "access", lambda path, mode: False)
    reason = environment._why_no_environment(root / ".venv", "Permission denied")
    assert holds(reason, "writable")
    assert "python3-venv" not in reason


def test_pip_installs_into_no_other_place_and_sees_no_other_systems_packages(monkeypatch):
    for name in ("PYTHONPATH", "PYTHONHOME", "PIP_USER"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("PIP_RETRIES", "7")
    variables = environment.pip_environment()
    assert {"PYTHONPATH", "PYTHONHOME"}.isdisjoint(variables)
    assert variables["PIP_RETRIES"] == "7"


ELSEWHERE = """[install]
user = true
no-deps = yes
target = /a
find-links =
    /c
    /d
[global]
prefix = /b
root = /e
index-url = file:///packages
"""
PARSED = """
import json, sys
from pip._internal.commands.install import InstallCommand
options, packages = InstallCommand("install", "").parse_args(["numpy"])
names = "use_user_site", "ignore_dependencies", "target_dir", "prefix_path", "root_path"
wrong = [name for name in names if getattr(options, name)]
print(json.dumps([options.index_url, options.find_links, *wrong]))
"""


def test_no_setting_in_pips_files_makes_it_install_elsewhere_or_less(tmp_path, monkeypatch):
    """pip's own parser reads our variables; the index and the links of its file stay."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    (tmp_path / "pip.conf").write_text(ELSEWHERE)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setattr(environment, "interpreter", lambda folder: sys.executable)
    variables = environment.settings_as_variables(tmp_path / ".venv")
    line = [sys.executable, "-c", PARSED]
    done = subprocess.run(line, env=variables, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["file:///packages", ["/c", "/d"]]


def test_an_environment_that_stays_empty_is_not_noted_as_complete(ready_clone, monkeypatch):
    root, _ = ready_clone
    shutil.rmtree(root / ".venv/lib/python3/site-packages/numpy")
    environment.set_up(root / ".venv", ["lab"])
    assert environment.has_packages(root / ".venv")
    assert ready_clone[1] == [["lab"], ["lab"]]


def test_a_pip_that_ends_well_and_installs_nothing_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    python = program(tmp_path / ".venv/bin", "exit 0")
    monkeypatch.setattr(environment, "interpreter", lambda folder: python)
    with pytest.raises(NotSetUp, match=r"NumPy .*\.venv.* pip config list"):
        environment.install(tmp_path / ".venv", ["lab"])


def test_pip_is_run_once_with_the_constraints_and_its_output_kept(tmp_path, monkeypatch, capsys):
    """A stand-in for the environment's Python repeats its arguments and says what pip would."""
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    script = 'echo "$@"; echo "Downloading big-1.0.whl (99.5 MB)"; echo "ERROR: refused"; exit 1'
    python = program(tmp_path / ".venv/bin", script)
    monkeypatch.setattr(environment, "interpreter", lambda folder: python)
    with pytest.raises(NotSetUp, match="ERROR: refused"):
        environment.install(tmp_path / ".venv", ["lab", "dev"], ["--pre"])
    line, *_ = (tmp_path / ".venv" / environment.LOG).read_text().splitlines()
    assert line.startswith("-m pip install ")
    assert line.endswith("--editable .[lab,dev] --pre")
    assert "--constraint constraints.txt" in line
    assert "  downloading big, 100 MB" in capsys.readouterr().out


def test_a_full_disk_is_one_sentence_wherever_it_is_noticed(clone, monkeypatch, capsys):

    def no_space(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    for place in ("write_note", "install"):
        with monkeypatch.context() as patch:
            patch.setattr(environment, place, no_space)
            assert environment.main([".venv", "lab"]) == 1
        sentence = ".venv is not set up: the disk is full. Free 2 GB; the same command then continues.\n"
        assert capsys.readouterr().err == sentence


def test_where_pips_own_words_cannot_be_kept_their_reason_is_named(tmp_path, monkeypatch):
    python = program(tmp_path / ".venv/bin", 'echo "OSError: [Errno 28] No space left on device"; exit 1')
    monkeypatch.setattr(environment, "interpreter", lambda folder: python)
    (tmp_path / ".venv" / environment.LOG).mkdir()
    with pytest.raises(NotSetUp, match="the disk is full"):
        environment.install(tmp_path / ".venv", ["lab"])


def test_set_up_needs_the_standard_library_only():
    line = [sys.executable, "-I", "-S", "-c", "import sys; sys.path.insert(0, sys.argv[1]); "
            "import rnncourse.lab.environment, rnncourse.lab.work", str(environment.ROOT)]  # fmt: skip
    assert subprocess.run(line).returncode == 0


def test_a_note_of_another_form_is_none(tmp_path):
    for text in (
        "",
        "[]",
        json.dumps({"folder": "x"}),
        json.dumps(dict.fromkeys(("folder", "version", "installed"))),
    ):
        (tmp_path / environment.NOTE).write_text(text)
        assert environment.read_note(tmp_path) is None
    assert os.listdir(tmp_path) == [environment.NOTE]
