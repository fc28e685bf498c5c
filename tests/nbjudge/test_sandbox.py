"""What stands around an answer: what it may see and write, and plain mode where bubblewrap cannot work."""

import os
import shutil
import subprocess

import pytest

from nbjudge.running import sandbox
from rnncourse.course import PACKAGES

needs_bubblewrap = pytest.mark.skipif(
    not shutil.which("bwrap"), reason="install bubblewrap (Debian: apt-get install bubblewrap)"
)


def inside(program):
    """What a Python program says from within bubblewrap."""
    command = [*sandbox._bubblewrap(), *sandbox._python(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


@pytest.fixture
def tried_anew():
    sandbox._why_not_bubblewrap.cache_clear()
    yield
    sandbox._why_not_bubblewrap.cache_clear()


def test_an_empty_tmp_comes_first_so_that_a_course_below_it_is_given_back():
    command = sandbox._bubblewrap()
    assert command.index("--tmpfs") < command.index("--ro-bind-try") < command.index("--ro-bind")
    assert command[command.index("--tmpfs") + 1] == "/tmp"


@needs_bubblewrap
def test_an_answer_writes_to_tmp_and_nowhere_else():
    assert inside("open('/tmp/a', 'w').write('x'); print(open('/tmp/a').read())") == "x"
    for place in ("/a", "/usr/a", f"{sandbox.MOUNTED}/a"):
        assert "Read-only file system" in inside(f"open({place!r}, 'w')")


@needs_bubblewrap
def test_an_answer_does_not_see_the_course_or_what_is_private(tmp_path):
    (tmp_path / "marks.txt").write_text("of all the others")
    hidden = (
        *(sandbox.CHECKOUT / name / "__init__.py" for name in PACKAGES),
        sandbox.CHECKOUT / "solutions",
        "/etc/passwd",
        tmp_path / "marks.txt",
    )
    for path in hidden:
        assert os.path.exists(path)
        assert inside(f"import os; print(os.path.exists({str(path)!r}))") == "False"


@needs_bubblewrap
def test_where_bubblewrap_hides_numpy_the_mode_is_plain_and_says_why(tried_anew, monkeypatch, tmp_path):
    monkeypatch.setattr(sandbox, "_packages", lambda: tmp_path)
    box = sandbox.choose()
    assert box.name == "plain"
    assert box.why.startswith("bubblewrap does not work here")


def test_without_bubblewrap_the_mode_is_plain_and_says_why(tried_anew, monkeypatch):
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    assert sandbox.choose() == sandbox.Sandbox("plain", "bubblewrap is not installed")


def test_a_worker_gets_nothing_of_the_teachers_environment(monkeypatch):
    monkeypatch.setenv("SECRET", "x")
    assert set(sandbox.environment()) == {"LANG", "HOME", "RNNLAB_CUDA", *sandbox.ONE_THREAD}


@needs_bubblewrap
def test_all_file_systems_that_an_answer_may_write_are_small():
    program = (
        "import os\n"
        "for line in open('/proc/mounts'):\n"
        "    kind, folder = line.split()[2], line.split()[1]\n"
        "    free = os.statvfs(folder)\n"
        "    if kind == 'tmpfs' and not free.f_flag & os.ST_RDONLY:\n"
        "        print(folder, free.f_blocks * free.f_frsize, end=' ')\n"
    )
    size = str(sandbox.SCRATCH)
    assert inside(program).split() == ["/tmp", size, "/dev/shm", size]


def test_a_folder_hidden_without_a_size_is_found():
    command = ["bwrap", "--size", "64", "--tmpfs", "/tmp", "--dev", "/dev", "--tmpfs", "/course"]
    assert sandbox._without_size(command) == ["/course"]
