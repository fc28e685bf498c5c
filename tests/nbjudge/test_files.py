"""Files appear whole or not at all."""

import os
import signal
import subprocess
import sys

import pytest

from nbjudge.files import write_whole


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "file"
    for content in (b"older", b"newer"):
        write_whole(path, content)
        assert path.read_bytes() == content
        assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_refusal_leaves_the_older_file_and_no_part_of_the_newer(tmp_path, monkeypatch, step):
    path = tmp_path / "file"
    write_whole(path, b"older")

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"newer")
    assert path.read_bytes() == b"older"
    assert os.listdir(tmp_path) == ["file"]


def test_a_kill_in_the_middle_leaves_the_older_file(tmp_path):
    path = tmp_path / "file"
    write_whole(path, b"older")
    code = (
        "import os, sys; from nbjudge.files import write_whole; "
        "os.fsync = lambda handle: os.kill(os.getpid(), 9); write_whole(sys.argv[1], b'newer' * 9999)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"older"
