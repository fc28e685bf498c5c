"""Paths through the course name its lessons, and their questions have the answers computed by hand."""

import pytest

from rnncourse import paths
from rnncourse.checks import LESSONS

BY_HAND = {
    "understand": (327_680, 4 * 7 * (5 + 7), 10 * 11 / 2, 0.25),
    "cpu": (1600, 0.5, 1.5, 9600),
    "kernels": (8, 8, 32, 393_216),
}


@pytest.mark.parametrize("name", paths.PATHS)
def test_right_answers_skip_a_path_and_a_wrong_one_names_its_lesson(name, capsys):
    path = paths.PATHS[name]
    paths.test(name, *BY_HAND[name])
    assert paths.in_words(path.lessons) in capsys.readouterr().out
    for place, question in enumerate(path.questions):
        for wrong in (..., BY_HAND[name][place] * 1.5):
            answers = [*BY_HAND[name]]
            answers[place] = wrong
            paths.test(name, *answers)
            assert f"lesson {question.lesson}" in capsys.readouterr().out


def test_paths_name_lessons_that_exist():
    numbers = {stem[:2] for stem in LESSONS.values()}
    for path in paths.PATHS.values():
        assert {*path.lessons} <= numbers
        assert {question.lesson for question in path.questions} <= {*path.lessons}


def test_another_number_of_answers_and_another_path_are_refused():
    with pytest.raises(ValueError, match="3 answers to 4"):
        paths.test("cpu", 1, 2, 3)
    with pytest.raises(ValueError, match="understand, cpu, kernels"):
        paths.test("gpu")
