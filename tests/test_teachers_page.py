"""The page for teachers: its syllabi can be taught, its commands exist; its tables are built."""

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
WORDS_A_MINUTE, QUARTER_MORE = (
    130,
    1.25,
)  # a code cell that is not folded takes a minute, too


def stated_minutes(lesson):
    """What the lesson's notebook says that it takes."""
    return int(re.search(r"\*\*Time:\*\* (\d+) minutes", source(checks.LESSONS[lesson]))[1])


def source(stem):
    """The text of a lesson."""
    return (ROOT / f"notebooks/source/{stem}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("lesson", checks.LESSONS)
def test_a_lesson_states_the_minutes_that_its_work_takes(lesson):
    path = ROOT / f"notebooks/{checks.LESSONS[lesson]}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    words = sum(len("".join(c["source"]).split()) for c in cells if c["cell_type"] == "markdown")
    reading = sum(c["cell_type"] == "code" and not c["metadata"] for c in cells) + words / WORDS_A_MINUTE
    work = reading + sum(answer.minutes for answer in answers(lesson).values())
    assert work - 5 < stated_minutes(lesson) < QUARTER_MORE * work, f"{work:.0f} minutes of work"


def needed_lessons(stem):
    """Lessons that a lesson builds on, as it says itself."""
    line = next(line for line in source(stem).split("\n") if "**You need:**" in line)
    return set(re.findall(r"\((\d\d)_\w+\.ipynb\)", line))


def rows_of(title):
    """The rows of the first table below a heading that begins so."""
    section = re.split(r"^#+ ", PAGE, flags=re.M)
    text = next(part for part in section if part.startswith(title))
    rows = [line.strip("|").split("|") for line in text.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


@pytest.mark.parametrize("title", SYLLABI)
def test_a_syllabus_teaches_what_a_lesson_needs_before_it(title):
    taught, rows = set(), rows_of(title)
    assert [row[0] for row in rows] == [str(week) for week in range(1, int(title.split()[0]) + 1)]
    by_number = {stem[:2]: lesson for lesson, stem in checks.LESSONS.items()}
    for _, lessons, _ in rows:
        for number in re.findall(r"\d\d", lessons):
            missing = needed_lessons(checks.LESSONS[by_number[number]]) - taught
            assert not missing, f"{number} needs {missing}"
            taught.add(number)


def commands():
    """Every `rnnlab ...` of the page, as words."""
    spans = re.findall(r"`(rnnlab [^`]+)`", PAGE) + re.findall(r"^ +(rnnlab .+)$", PAGE, re.M)
    return sorted({*spans})


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_page_can_be_given(command, capsys):
    arguments = shlex.split(command)[1:]
    if arguments[:2] == ["class", "variants"] and len(arguments) == 2:
        arguments += ["autumn", "--lesson", "bptt", "--students", "list.txt"]
    if "--help" in arguments:
        with pytest.raises(SystemExit) as left:
            parser().parse_args(arguments)
        assert left.value.code == 0
    else:
        assert parser().parse_args(arguments).handler
