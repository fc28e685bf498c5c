"""Paths through the course name its lessons, and their questions have the answers computed by hand."""

import re

import numpy as np
import pytest
from values_in import holds

from nbjudge.authoring.course import ROOT
from rnncourse import paths
from rnncourse.checks import LESSONS, catalogue

SOURCES = {
    path.name[:2]: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("notebooks/source/*.py"))
}
EXERCISES = {name: stem[:2] for lesson, stem in LESSONS.items() for name in catalogue(lesson)}

BY_HAND = {
    "understand": (327_680, 4 * 7 * (5 + 7), 10 * 11 / 2, 0.25),
    "cpu": (1600, 0.5, 1.5, 9600),
    "kernels": (8, 8, 32, 393_216),
}


@pytest.mark.parametrize("name", paths.PATHS)
def test_right_answers_skip_a_path_and_a_wrong_one_names_its_lesson(name, capsys):
    path = paths.PATHS[name]
    paths.test(name, *BY_HAND[name])
    assert (
        f"skip {paths.list_lessons({question.lesson for question in path.questions})}"
        in capsys.readouterr().out
    )
    for place, question in enumerate(path.questions):
        for wrong in (..., BY_HAND[name][place] * 1.5):
            answers = [*BY_HAND[name]]
            answers[place] = wrong
            paths.test(name, *answers)
            assert f"lesson {question.lesson}" in capsys.readouterr().out


NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize(
    ("answers", "present", "absent"),
    [
        ((1600, 0.5, 1.5, 9600), ["skip 05, 06 and 08"], ["lesson 0"]),
        ((np.float32(1600), 1 / 2, 3 / 2, np.int64(9600)), ["skip 05, 06 and 08"], ["lesson 0"]),
        ((1601, 0.5, 1.5, NOT_A_NUMBER), ["4. 9,600", "lesson 08", "skip 05 and 06"], ["lesson 05"]),
        ((1600, -0.5, float("inf"), 9600), ["2. 0.5", "3. 1.5", "05 and 06", "skip 08"], ["lesson 08"]),
        ((..., ..., ..., ...), ["1.", "4.", "05, 06 and 08"], ["1,600", "0.5", "1.5", "9,600", "skip"]),
    ],
)
def test_answers_that_are_right_wrong_or_no_numbers_are_told_apart(answers, present, absent, capsys):
    paths.test("cpu", *answers)
    printed = capsys.readouterr().out
    assert not [part for part in present if part not in printed]
    assert not [part for part in absent if part in printed]


@pytest.mark.parametrize("answer", ["1600", None, 1600j, [1600]])
def test_an_answer_that_is_not_a_number_is_named(answer):
    with pytest.raises(TypeError, match=f"3.*{re.escape(repr(answer))}"):
        paths.test("cpu", 1600, 0.5, answer, ...)


@pytest.mark.parametrize("name", paths.PATHS)
def test_the_first_lesson_of_a_path_asks_its_questions(name):
    first = "09" if name == "kernels" else paths.PATHS[name].lessons[0]
    assert f'\npaths.test("{name}")' in SOURCES[first]


@pytest.mark.parametrize("lesson", SOURCES)
def test_a_lesson_says_what_it_builds_on_and_relies_on_no_other(lesson):
    """An earlier lesson that prose refers to, but not in passing in brackets, or an exercise of one."""
    line = next(line for line in SOURCES[lesson].splitlines() if "**You need:**" in line)
    needs = paths.NEEDS.get(lesson, ())
    assert sorted(re.findall(r"\((\d\d)_\w+\.ipynb\)", line)) == sorted(needs)
    prose = re.sub(r"\([^()]*\)|## Sources.*", "", SOURCES[lesson], flags=re.S)
    named = {
        number
        for numbers in re.findall(r"[Ll]essons? ([\d, and]+)", prose)
        for number in re.findall(r"\d\d", numbers)
    }
    of_exercises = {EXERCISES[word] for word in re.findall(r"`(\w+)`", prose) if word in EXERCISES}
    assert {other for other in named | of_exercises if other < lesson} <= paths.everything_below(lesson)


def test_paths_and_pages_say_what_lessons_outside_a_path_it_builds_on(capsys):
    assert paths.PATHS["understand"].outside() == set()
    assert paths.PATHS["kernels"].outside() == {"01", "04", "05"}
    assert paths.PATHS["cpu"].outside() == {"00", "01", "02", "04"}  # 04 builds on 02
    paths.show()
    shown = capsys.readouterr().out
    assert "01, 04 and 05" in shown
    assert max(map(len, shown.splitlines())) <= 78


def test_the_hours_of_a_path_are_those_of_its_lessons_and_of_those_that_they_build_on(capsys):
    stated = re.compile(r"\*\*Time:\*\* (\d+) minutes")
    minutes = {number: int(stated.search(text)[1]) for number, text in SOURCES.items()}
    hours = lambda *lessons: round(sum(minutes[lesson] for lesson in lessons) / 60)
    own, every = hours("05", "06", "07", "08"), hours("00", "01", "02", "04", "05", "06", "07", "08")
    assert paths.PATHS["cpu"].hours(minutes) == (own, every)
    assert paths.PATHS["understand"].hours(minutes) == (hours("00", "01", "02", "03", "04"),) * 2
    paths.show()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    row = next(line for line in readme.splitlines() if "paths.test('cpu')" in line)
    for text in (row, capsys.readouterr().out.partition("cpu:")[2]):
        assert holds(text, "05", "08", f"{own}", "00", "02", "04", f"{every}")


def test_paths_name_lessons_that_exist():
    numbers = {stem[:2] for stem in LESSONS.values()}
    for path in paths.PATHS.values():
        assert {*path.lessons} <= numbers
        assert {question.lesson for question in path.questions} <= {*path.lessons}


def test_a_right_answer_is_printed_with_all_its_digits(capsys):
    paths.test("kernels", 8, 8, 32, 393_217 * 2)
    assert "393,216 is right, not 786,434" in capsys.readouterr().out


def test_another_number_of_answers_and_another_path_are_refused():
    with pytest.raises(ValueError, match="3 answers to 4"):
        paths.test("cpu", 1, 2, 3)
    with pytest.raises(ValueError, match="understand, cpu, kernels"):
        paths.test("gpu")
