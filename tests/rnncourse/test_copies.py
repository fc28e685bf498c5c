"""A learner's copies of the exercises: whole or not at all, answers never overwritten, changes told."""

import errno
import json

import pytest

from rnncourse.lab import work as copies
from rnncourse.lab.work import content_hash


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


def test_what_is_no_notebook_has_a_hash_of_its_own():
    contents = b"", b"[]", b'{"cells": 3}', b"\xff", b'{"cells": [[]]}'
    assert len({content_hash(content) for content in contents}) == 5


@pytest.mark.parametrize("below", ["", " \n"])
def test_the_empty_cell_that_jupyterlab_puts_below_the_last_one_is_no_writing(small, below):
    work, exercise = small / "work/02_bptt.ipynb", small / "exercises/02_bptt.ipynb"
    copies.copy_exercises(small)
    run = json.loads(work.read_text())
    run["cells"].append({"cell_type": "code", "id": "b", "metadata": {}, "source": below, "outputs": []})
    work.write_text(json.dumps(run))
    exercise.write_text(notebook("second"))
    assert copies.copy_exercises(small).replaced == [work]


@pytest.mark.parametrize(
    ("number", "remedy"), [(errno.ENOSPC, "free some space"), (errno.EACCES, "make .*work writable")]
)
def test_a_copy_that_cannot_be_written_leaves_nothing_behind_and_says_what_to_do(
    small, monkeypatch, number, remedy
):
    def refuse(handle):
        raise OSError(number, "refused")

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(OSError, match=f"02_bptt.ipynb.*{remedy}"):
        copies.copy_exercises(small)
    assert not list((small / "work").iterdir())


@pytest.mark.parametrize("make", [lambda path: path.write_text(""), lambda path: path.symlink_to("gone")])
def test_what_stands_in_the_place_of_the_folder_of_copies_is_to_be_moved_aside(small, make):
    make(small / "work")
    with pytest.raises(OSError, match=f"move {small / 'work'} aside"):
        copies.copy_exercises(small)


def test_a_folder_that_is_no_course_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="clone"):
        copies.copy_exercises(tmp_path)


@pytest.fixture
def moved(small):
    """The course of one exercise, which a learner had as number 02 and which is number 03 now."""
    copies.copy_exercises(small)
    (small / "exercises/02_bptt.ipynb").rename(small / "exercises/03_bptt.ipynb")
    (small / "exercises/03_bptt.ipynb").write_text(notebook("first, with its new number"))
    return small


def test_a_copy_with_answers_follows_its_exercise_to_a_new_number(moved):
    old, new = moved / "work/02_bptt.ipynb", moved / "work/03_bptt.ipynb"
    old.write_text(notebook("my answer"))
    assert copies.copy_exercises(moved) == copies.Copies(renamed=[(old, new)], outdated=[new])
    assert new.read_text() == notebook("my answer")
    assert not old.exists()
    assert copies.copy_exercises(moved) == copies.Copies(outdated=[new])


def test_a_copy_in_which_nobody_wrote_follows_and_is_replaced(moved):
    old, new = moved / "work/02_bptt.ipynb", moved / "work/03_bptt.ipynb"
    assert copies.copy_exercises(moved) == copies.Copies(renamed=[(old, new)], replaced=[new])
    assert new.read_bytes() == (moved / "exercises/03_bptt.ipynb").read_bytes()
    assert copies.copy_exercises(moved) == copies.Copies()


def test_answers_take_the_place_of_a_copy_in_which_nobody_wrote(moved):
    old, new = moved / "work/02_bptt.ipynb", moved / "work/03_bptt.ipynb"
    old.write_text(notebook("my answer"))
    new.write_bytes((moved / "exercises/03_bptt.ipynb").read_bytes())
    assert copies.copy_exercises(moved).renamed == [(old, new)]
    assert new.read_text() == notebook("my answer")


def test_of_two_copies_with_answers_none_is_lost_and_the_old_one_is_named(moved):
    old, new = moved / "work/02_bptt.ipynb", moved / "work/03_bptt.ipynb"
    new.write_text(notebook("my other answer"))
    assert copies.copy_exercises(moved).doubled == []  # nobody wrote in the old one
    old.write_text(notebook("my answer"))
    for _ in range(2):
        assert copies.copy_exercises(moved).doubled == [old]
        assert old.read_text() == notebook("my answer")
        assert new.read_text() == notebook("my other answer")


def test_a_learners_own_files_stay_where_they_are(moved):
    own = ("02_bptt-Copy1.ipynb", "02_bptt.py", "notes.ipynb", "bptt.ipynb", "99_bptt.ipynb", "2_bptt.ipynb")
    for name in own:
        (moved / "work" / name).write_text(name)
    (moved / "work/04_bptt.ipynb").mkdir()
    (moved / "work/02_bptt.ipynb").write_text(notebook("my answer"))
    seen = copies.copy_exercises(moved)
    assert [path.name for path, _ in seen.renamed] == ["02_bptt.ipynb"]
    assert not seen.doubled
    assert all((moved / "work" / name).read_text() == name for name in own)


@pytest.mark.parametrize("origins", ["", None])
def test_a_copy_of_which_nobody_knows_the_origin_follows_too(moved, origins):
    record = moved / "work" / copies.ORIGINS
    record.unlink() if origins is None else record.write_text(origins)
    old, new = moved / "work/02_bptt.ipynb", moved / "work/03_bptt.ipynb"
    old.write_text(notebook("my answer"))
    assert copies.copy_exercises(moved).renamed == [(old, new)]
    assert new.read_text() == notebook("my answer")


def test_numbers_that_shift_by_one_make_no_two_copies_meet(small):
    for number, lesson in ((3, "training"), (4, "graphs")):
        (small / f"exercises/0{number}_{lesson}.ipynb").write_text(notebook(lesson))
    copies.copy_exercises(small)
    for number, lesson in ((4, "graphs"), (3, "training"), (2, "bptt")):
        (small / f"work/0{number}_{lesson}.ipynb").write_text(notebook(f"my {lesson}"))
        (small / f"exercises/0{number}_{lesson}.ipynb").rename(
            small / f"exercises/0{number + 1}_{lesson}.ipynb"
        )
    assert len(copies.copy_exercises(small).renamed) == 3
    for number, lesson in ((5, "graphs"), (4, "training"), (3, "bptt")):
        assert (small / f"work/0{number}_{lesson}.ipynb").read_text() == notebook(f"my {lesson}")


def test_a_copy_that_cannot_be_renamed_stays_and_the_learner_is_told_what_to_do(moved, monkeypatch):
    def refuse(path, target):
        raise PermissionError(errno.EACCES, "refused")

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(PermissionError, match=r"03_bptt.*refused.*: make .*work writable"):
        copies.copy_exercises(moved)
    assert (moved / "work/02_bptt.ipynb").exists()
