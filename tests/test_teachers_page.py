"""The page for teachers: its tables say what the lessons and exercises say, its commands exist."""

import json
import re
import shlex

import pytest

from nbjudge.authoring.course import ROOT
from rnncourse import checks
from rnncourse.checks.answers import answers
from rnncourse.cli import parser

PAGE = (ROOT / "docs/teachers.md").read_text(encoding="utf-8")
SYLLABI = ("4 weeks", "8 weeks: where", "8 weeks: kernels", "14 weeks")
LONGEST_EXAM = 25  # minutes of an exercise
WORDS_A_MINUTE, QUARTER_MORE = 130, 1.25  # a code cell takes a minute, too: predict, run, read


def stated_minutes(lesson):
    """What the lesson's notebook says that it takes."""
    text = (ROOT / f"notebooks/source/{checks.LESSONS[lesson]}.py").read_text(encoding="utf-8")
    return int(re.search(r"\*\*Time:\*\* (\d+) minutes", text)[1])


@pytest.mark.parametrize("lesson", checks.LESSONS)
def test_a_lesson_states_the_minutes_that_its_work_takes(lesson):
    path = ROOT / f"notebooks/{checks.LESSONS[lesson]}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    words = sum(len("".join(c["source"]).split()) for c in cells if c["cell_type"] == "markdown")
    reading = sum(c["cell_type"] == "code" for c in cells) + words / WORDS_A_MINUTE
    work = reading + sum(answer.minutes for answer in answers(lesson).values())
    assert work - 5 < stated_minutes(lesson) < QUARTER_MORE * work, f"{work:.0f} minutes of work"


def needed_lessons(stem):
    """Lessons that a lesson builds on, as it says itself."""
    text = (ROOT / f"notebooks/source/{stem}.py").read_text(encoding="utf-8")
    line = next(line for line in text.split("\n") if "**You need:**" in line)
    return set(re.findall(r"\((\d\d)_\w+\.ipynb\)", line))


def rows_of(title):
    """The rows of the first table below a heading that begins so."""
    section = re.split(r"^#+ ", PAGE, flags=re.M)
    text = next(part for part in section if part.startswith(title))
    rows = [line.strip("|").split("|") for line in text.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def lesson_row(lesson):
    own = answers(lesson).values()
    varying = ", ".join(f"`{answer.name}` ({len(answer.variants) + 1})" for answer in own if answer.variants)
    numbers = stated_minutes(lesson), sum(a.minutes for a in own), sum(a.points for a in own)
    return [checks.LESSONS[lesson].replace("_", " ", 1), *map(str, numbers), varying or "none"]


def exam_rows():
    chosen = [
        (answer, lesson)
        for lesson in checks.LESSONS
        for answer in answers(lesson).values()
        if answer.variants and answer.difficulty in (2, 3) and answer.minutes <= LONGEST_EXAM
    ]
    stem = lambda lesson: checks.LESSONS[lesson].replace("_", " ", 1)
    numbers = lambda a: map(str, (a.minutes, a.points, len(a.variants) + 1))
    return [[f"`{a.name}`", stem(lesson), *numbers(a)] for a, lesson in chosen]


def test_the_table_of_lessons_is_what_lessons_and_exercises_say():
    assert rows_of("Lessons, time") == [lesson_row(lesson) for lesson in checks.LESSONS]


def test_the_exercises_for_an_exam_have_variants_and_are_short():
    assert rows_of("Exercises for an exam") == exam_rows()


@pytest.mark.parametrize("title", SYLLABI)
def test_a_syllabus_adds_up_and_teaches_what_a_lesson_needs_before_it(title):
    taught, rows = set(), rows_of(title)
    assert [row[0] for row in rows] == [str(week) for week in range(1, int(title.split()[0]) + 1)]
    by_number = {stem[:2]: lesson for lesson, stem in checks.LESSONS.items()}
    for _, lessons, minutes in rows:
        numbers = re.findall(r"\d\d", lessons)
        assert sum(stated_minutes(by_number[number]) for number in numbers) == int(minutes)
        for number in numbers:
            missing = needed_lessons(checks.LESSONS[by_number[number]]) - taught
            assert not missing, f"{number} needs {missing}"
            taught.add(number)


def commands():
    """Every `rnnlab ...` of the page, as words."""
    spans = re.findall(r"`(rnnlab [^`]+)`", PAGE) + re.findall(r"^ +(rnnlab .+)$", PAGE, re.M)
    return sorted({*spans})


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_page_can_be_given(command, capsys):
    words = shlex.split(command)[1:]
    if words[:2] == ["class", "variants"] and len(words) == 2:
        words += ["autumn", "--lesson", "bptt", "--students", "list.txt"]
    if "--help" in words:
        with pytest.raises(SystemExit) as left:
            parser().parse_args(words)
        assert left.value.code == 0
    else:
        assert parser().parse_args(words).handler
