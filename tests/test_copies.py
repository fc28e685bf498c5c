"""A learner's copies of the exercises: whole or not at all, answers never overwritten, changes told."""

import errno
import json

import pytest

from rnnlab.lab import copies
from rnnlab.lab.notebooks import written


def notebook(text, **outputs):
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": [text], **outputs}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def small(tmp_path):
    """A course of one exercise."""
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises/02_bptt.ipynb").write_text(notebook("first"))
    return tmp_path


def test_copies_are_made_once_and_an_answer_is_never_overwritten(small):
    work = small / "work/02_bptt.ipynb"
    assert copies.copy_exercises(small).new == [work]
    assert work.read_bytes() == (small / "exercises/02_bptt.ipynb").read_bytes()
    work.write_text("my answer")
    assert copies.copy_exercises(small) == copies.Copies()
    assert work.read_text() == "my answer"


@pytest.mark.parametrize("content", [notebook("first"), notebook("first", outputs=["42"], execution_count=7)])
def test_a_changed_exercise_takes_the_place_of_a_copy_in_which_nobody_wrote(small, content):
    work, exercise = small / "work/02_bptt.ipynb", small / "exercises/02_bptt.ipynb"
    copies.copy_exercises(small)
    work.write_text(content)
    exercise.write_text(notebook("second"))
    assert copies.copy_exercises(small).replaced == [work]
    assert work.read_bytes() == exercise.read_bytes()
    assert copies.copy_exercises(small) == copies.Copies()


@pytest.mark.parametrize("answer", [notebook("my answer"), "no notebook any more", ""])
def test_a_copy_with_answers_is_kept_and_named_until_it_is_the_exercise_of_today(small, answer):
    work, exercise = small / "work/02_bptt.ipynb", small / "exercises/02_bptt.ipynb"
    copies.copy_exercises(small)
    work.write_text(answer)
    exercise.write_text(notebook("second"))
    for _ in range(2):
        assert copies.copy_exercises(small) == copies.Copies(outdated=[work])
        assert work.read_text() == answer
    work.write_text(exercise.read_text())
    assert copies.copy_exercises(small) == copies.Copies()
    work.unlink()
    assert copies.copy_exercises(small).new == [work]


def test_an_exercise_that_only_was_built_anew_is_no_change(small):
    copies.copy_exercises(small)
    (small / "work/02_bptt.ipynb").write_text("my answer")
    (small / "exercises/02_bptt.ipynb").write_text(notebook("first", outputs=[]))
    assert copies.copy_exercises(small) == copies.Copies()


@pytest.mark.parametrize("origins", ["", "[]", "{", None, '{"02_bptt.ipynb": 3}'])
def test_a_copy_of_which_nobody_knows_the_origin_is_never_replaced(small, origins):
    copies.copy_exercises(small)
    work = small / "work/02_bptt.ipynb"
    work.write_text(notebook("my answer"))
    record = small / "work" / copies.ORIGINS
    record.unlink() if origins is None else record.write_text(origins)
    copies.copy_exercises(small)
    (small / "exercises/02_bptt.ipynb").write_text(notebook("second"))
    assert copies.copy_exercises(small).outdated == [work]
    assert work.read_text() == notebook("my answer")


def test_what_a_person_wrote_is_the_cells_and_neither_outputs_nor_metadata():
    assert written(notebook("a").encode()) == written(notebook("a", outputs=[1]).encode())
    assert written(notebook("a").encode()) != written(notebook("b").encode())
    assert (
        len({written(content) for content in (b"", b"[]", b'{"cells": 3}', b"\xff", b'{"cells": [[]]}')}) == 5
    )


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
