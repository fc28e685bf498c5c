"""A lesson by its number, its name or both, the same in every command."""

import pytest
from values_in import holds

from nbjudge import lesson_names
from nbjudge.lesson_names import UnknownLesson, find_lesson, lesson_named, lesson_title
from rnncourse import cli
from rnncourse.checks import LESSONS


@pytest.mark.parametrize("lesson", LESSONS)
def test_number_name_and_both_are_one_lesson(lesson):
    title = LESSONS[lesson]
    number = title[:2]
    for text in (lesson, title, number, str(int(number)), f"{title}.ipynb", f" {title.upper()} "):
        assert lesson_named(text) == lesson


@pytest.mark.parametrize("text", ["", "99", "1_bptt", "rnn", "02_", "bptt.py"])
def test_what_names_no_lesson_is_refused(text):
    with pytest.raises(UnknownLesson):
        lesson_named(text)


def test_the_nearest_lesson_is_offered():
    with pytest.raises(UnknownLesson, match="did you mean bptt"):
        find_lesson("btpt", LESSONS.values())


@pytest.mark.parametrize(
    "message",
    [
        "lab --lesson {}",
        "progress {}",
        "progress --lesson {}",
        "grade work/x.ipynb --lesson {}",
        "check work/x.ipynb --lesson {}",
        "class collect folder download --lesson {}",
        "class regrade folder --lesson {}",
        "class similar folder --lesson {}",
        "class export folder --to csv --out x.csv --lesson {}",
        "class variants folder --lesson {} --students ada.txt",
    ],
)
def test_every_command_refuses_an_unknown_lesson_in_the_same_words(message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(message.format("nope").split()) == 2
    assert holds(capsys.readouterr().err, "'nope'")


@pytest.mark.parametrize("text", ["1", "01", "rnn_forward", "01_rnn_forward"])
def test_progress_takes_each_form(text, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))
    for message in ([text], ["--lesson", text]):
        assert cli.main(["progress", *message]) == 0
        assert "rnn_step" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["2", "02", "bptt", "2_bptt.ipynb", "work/2_bptt.ipynb"])
def test_a_lesson_in_place_of_its_notebook_is_told_where_that_is(text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["grade", text]) == 2
    assert holds(capsys.readouterr().err, f"{tmp_path / text} does not exist")
    (tmp_path / "work").mkdir()
    (tmp_path / "work/02_bptt.ipynb").write_text("{}")
    assert cli.main(["grade", text]) == 2
    assert holds(capsys.readouterr().err, str(tmp_path / "work/02_bptt.ipynb"))


def test_a_hint_to_a_lesson_names_its_exercises(capsys):
    assert cli.main(["hint", "02"]) == 2
    error = capsys.readouterr().err
    assert holds(error, "bptt_linear", "gradient_check")
    assert "rnn_step" not in error


def test_a_lesson_is_called_by_its_first_line(tmp_path, monkeypatch):
    assert lesson_title("bptt") == "02 · Back through time"
    monkeypatch.setattr(lesson_names, "ROOT", tmp_path)
    assert lesson_title("bptt") == "02 bptt", "a package without the notebooks"
