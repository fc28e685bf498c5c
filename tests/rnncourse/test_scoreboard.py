"""The scoreboard keeps a learner's own runs, compares them with one product, and survives a damaged file."""

import dataclasses

import pytest

from nbjudge.progress_file import home
from rnncourse import scoreboard
from rnncourse.lab import turns
from rnncourse.scoreboard import PRODUCT, ScoreRow
from rnnlab import reference

tanh = scoreboard.problem()[0]


@pytest.fixture(autouse=True)
def an_empty_home(tmp_path, monkeypatch):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path / "home"))


@pytest.fixture
def timed(monkeypatch):
    """Ways take 0.25 s in every round; a load of 9 threads for each core if the test sets it."""
    load = [0.0]
    pretend = lambda ways, rounds: {way: turns.Timing((0.25,) * rounds, load[0]) for way in ways}
    monkeypatch.setattr(scoreboard, "take_turns", pretend)
    return load


def test_the_rate_counts_what_the_result_needs(timed):
    T, B, H = scoreboard.T, scoreboard.B, scoreboard.H
    scoreboard.measure("04", {"textbook": lambda: None}, scoreboard.problem("gru")[0], scoreboard.TRAINING)
    (row,) = scoreboard.rows()
    assert row.rate == pytest.approx(3 * 3 * 2 * T * B * H * 2 * H / 0.25 / 1e9)
    assert (row.lesson, row.seconds, row.disturbed) == ("04", 0.25, False)


def test_rows_of_all_lessons_are_printed_with_their_part_of_one_large_product(timed, capsys):
    scoreboard.measure("02", {"one sweep": lambda: None}, tanh)
    scoreboard.keep(ScoreRow("00", PRODUCT, 2 * scoreboard.rows()[0].rate))
    scoreboard.measure("01", {"a minibatch": lambda: None}, tanh)
    lessons = [line.split()[0] for line in capsys.readouterr().out.splitlines()[-4:]]
    assert lessons == ["lesson", "00", "01", "02"]
    assert [line.split()[-1] for line in scoreboard.table().splitlines()[1:]] == ["100.0%", "50.0%", "50.0%"]


def test_rows_can_be_kept_without_being_printed(timed, capsys):
    scoreboard.measure("07", {"one thread": lambda: None}, tanh, show=False)
    assert capsys.readouterr().out == ""
    assert [row.way for row in scoreboard.rows()] == ["one thread"]


def test_a_later_run_takes_the_place_of_an_older_one_unless_it_was_disturbed(timed):
    row = ScoreRow("01", "a minibatch", 1.0, 0.1)
    disturbed = dataclasses.replace(row, rate=3.0, disturbed=True)
    for new, expected in ((disturbed, disturbed), (row, row), (disturbed, row)):
        scoreboard.keep(new)
        assert scoreboard.rows() == [expected]
    timed[0] = 9.0
    scoreboard.measure("02", {"one sweep": lambda: None}, tanh)
    assert [row.disturbed for row in scoreboard.rows()] == [False, True]
    assert scoreboard.table().count("*") == 2  # at the row, and at its reason


@pytest.mark.parametrize("text", ["", "[1]", '[{"lesson": "01"}]', "{", '[{"lessons": 1}]'])
def test_a_damaged_file_is_begun_anew(text):
    home().mkdir()
    (home() / "scoreboard.json").write_text(text, encoding="utf-8")
    assert scoreboard.rows() == []
    scoreboard.keep(ScoreRow("01", "a minibatch", 1.0))
    assert len(scoreboard.rows()) == 1


def test_a_folder_that_cannot_be_written_costs_a_warning():
    home().write_text("a file stands where the folder should be")
    with pytest.warns(UserWarning, match="RNNLAB_HOME"):
        scoreboard.keep(ScoreRow("01", "a minibatch", 1.0))


def test_the_problem_runs_with_units_that_are_not_saturated():
    network, x, state, dy = scoreboard.problem("lstm")
    assert scoreboard.flop(network) == 2 * x.shape[0] * x.shape[1] * 4 * 256 * 512
    y, _, _ = reference.forward(network, x, state)
    assert y.shape == dy.shape
    assert 0.1 < abs(y).mean() < 0.9
