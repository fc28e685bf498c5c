"""A learner's copies of the exercises: made once, whole or not at all, never overwritten."""

import errno

import pytest

from rnnlab.machine import copies


@pytest.fixture
def small(tmp_path):
    """A course of one exercise."""
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises/02_bptt.ipynb").write_text("{}")
    return tmp_path


def test_copies_are_made_once_and_an_answer_is_never_overwritten(small):
    work = small / "work/02_bptt.ipynb"
    assert copies.copy_exercises(small) == [work]
    assert work.read_bytes() == (small / "exercises/02_bptt.ipynb").read_bytes()
    work.write_text("my answer")
    assert copies.copy_exercises(small) == []
    assert work.read_text() == "my answer"


@pytest.mark.parametrize(
    ("number", "remedy"), [(errno.ENOSPC, "free some space"), (errno.EACCES, "make .*work writable")]
)
def test_a_copy_that_cannot_be_written_leaves_nothing_behind_and_says_what_to_do(
    small, monkeypatch, number, remedy
):
    def refuse(handle):
        raise OSError(number, "refused")

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(OSError, match=f"cannot make your copy .*02_bptt.ipynb .refused.: {remedy}"):
        copies.copy_exercises(small)
    assert not list((small / "work").iterdir())


def test_a_folder_that_is_no_course_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="run rnnlab in a clone of the course"):
        copies.copy_exercises(tmp_path)
