"""A prediction that nobody has made is printed as none, in each way in which lessons print one."""

import re

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from nbjudge.authoring.course import ROOT
from rnncourse import guesses

SOURCES = sorted(ROOT.glob("notebooks/source/*.py"))


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    guesses.prepare(shell)
    guesses.prepare(shell)
    return shell


def run(shell, cell):
    result = shell.run_cell(cell)
    result.raise_error()
    return result.result


@pytest.mark.parametrize(
    ("guess", "line", "printed"),
    [
        ("...", "f'{my_guess:.0%} {my_guess:,} {my_guess}'", "none none none"),
        ("{'read': ..., 'write': 4}", "str(my_guess)", "{'read': none, 'write': 4}"),
        ("..., ...", "' and '.join(my_guess)", "none and none"),
        ("[...]", "', '.join(my_guess)", "none"),
        ("...", "f'{40 - my_guess} {abs(my_guess / 2):.1f} {my_guess > 3}'", "none none False"),
    ],
)
def test_a_guess_that_was_not_made_is_none(shell, guess, line, printed):
    assert run(shell, f"my_guess = {guess}\n{line}") == printed


def test_a_number_of_the_readers_own_stays(shell):
    assert run(shell, "my_guess = 5.0\nf'{my_guess:.0%}'") == "500%"
    assert run(shell, "rows = ...\nrows is ...") is True


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_lesson_makes_a_guess_for_its_reader(path):
    text = path.read_text(encoding="utf-8")
    assigned = re.findall(r"^my_guess\w* = (.*)", text, re.M)
    numbers = [value for value in assigned if "..." not in value and not value.startswith("set()")]
    assert not numbers
