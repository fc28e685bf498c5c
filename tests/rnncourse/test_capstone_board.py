"""The board and the page: every program is scored again, and one that may not be is named and left out."""

import re
import shutil

import nbformat
import numpy as np
import pytest
from values_in import holds

from nbjudge.running import sandbox
from rnncourse import cli
from rnncourse.capstone import board, score
from rnncourse.capstone.launches import Problem
from rnncourse.capstone.page import TEMPLATE, check_page, coverage

SLOW = """
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    up = [(0, l, 0, 0) for l in range(layers)]
    return steps, np.array(up + [(k, l, 0, 0) for l in reversed(range(layers)) for k in (1, 2)])
"""
OF_COURSE = board.course_programs
FEW = Problem(2, 3, 4, 8, 60), Problem(1, 1, 4, 8, 9)


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """A notebook, and a board with one program; two small problems, and no programs of the course."""
    home = tmp_path_factory.mktemp("board")
    cells = [nbformat.v4.new_code_cell(text) for text in ("import numpy as np", "secret = 1", SLOW)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), home / "19_capstone.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board, "PROBLEMS", FEW)
        patch.setattr(board, "course_programs", dict)
        arguments = [str(home / "board"), "--add", str(home / "19_capstone.ipynb"), "--as", "blue heron"]
        assert cli.main(["board", *arguments]) == 0
        yield home


@pytest.fixture
def notebook(once):
    return once / "19_capstone.ipynb"


@pytest.fixture
def folder(once, tmp_path):
    return shutil.copytree(once / "board", tmp_path / "board")


def shown(capsys, *arguments):
    status = cli.main(["board", *map(str, arguments)])
    return status, capsys.readouterr()


def test_a_schedule_is_added_and_scored_again(folder, capsys):
    status, (out, _) = shown(capsys, folder)
    assert status == 0
    assert holds(out, "blue heron", "1 scored", "0 left out")
    assert (folder / board.FILE).read_text() in out
    program = (folder / "blue heron.py").read_text()
    assert "secret" not in program
    names = {}
    exec(program, names)
    want = [score.score(problem, names["my_schedule"](*problem)) for problem in FEW]
    entry = board.make_entry("blue heron", program, sandbox.choose())
    assert entry.ratios == pytest.approx([one.ratio for one in want])
    assert entry.worst == max(entry.ratios)
    assert entry.saved_bytes == max(one.saved_bytes for one in want)
    assert f"{entry.worst:.2f}" in out


def test_programs_that_cannot_be_scored_are_named_and_left_out(folder, capsys):
    (folder / "a.py").write_text("def my_schedule(*sizes): return 1, []")
    (folder / "b.py").write_bytes(b"\xff\xfe")
    (folder / "c.py").write_text("#" * (board.MOST_BYTES + 1))
    (folder / "d\x1b[2J.py").mkdir()
    status, (out, _) = shown(capsys, folder)
    assert status == 1
    assert holds(out, "1 scored", "4 left out")
    assert all(f"left out: {name}.py: " in out for name in "abc")
    assert "\x1b" not in out


def test_a_program_takes_the_place_of_the_earlier_one_of_its_pseudonym(folder, notebook, capsys):
    (folder / "blue heron.py").write_text("def my_schedule(*sizes): return 1, []")
    status, (out, _) = shown(capsys, folder, "--add", notebook, "--as", "blue heron")
    assert status == 0
    assert holds(out, "1 scored")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--add", "{notebook}"], "--add NOTEBOOK and --as NAME go together"),
        (["--as", "me"], "--add NOTEBOOK and --as NAME go together"),
        (["--add", "{notebook}", "--as", "x" * 41], "expected 1 to 40 letters"),
        (["--add", "{notebook}", "--as", "a/b"], "the pseudonym is 'a/b'"),
        (["--add", "{notebook}", "--as", "..b"], "the pseudonym is '..b'"),
        (["--add", "{notebook}.txt", "--as", "me"], "19_capstone.ipynb.txt does not exist"),
    ],
)
def test_what_cannot_be_added_is_one_sentence(folder, notebook, capsys, arguments, sentence):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    status, (_, error) = shown(capsys, folder, *(word.format(notebook=notebook) for word in arguments))
    assert status == 2
    assert error.startswith("rnnlab board: ")
    assert error.count("\n") == 1
    assert sentence in error
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("def my_schedule(*sizes): return 1, []", "There is no backward of layer 0, block 0"),
        ("def my_schedule(*sizes): raise KeyError('h')", "KeyError: 'h'"),
        ("def my_schedule(", "its program is not valid Python"),
        ("import rnncourse.capstone\ndef my_schedule(*sizes): return 1, []", "may not be scored"),
    ],
)
def test_a_program_that_may_not_be_scored_says_why(once, program, message):
    with pytest.raises(board.Unusable, match=r"its (schedule|program)") as refused:
        board.make_entry("me", program, sandbox.choose())
    assert message in str(refused.value)


def test_equal_ratios_are_ordered_by_the_bytes_that_they_save():
    entries = [
        board.BoardEntry("a", 2.001, 300, ()),
        board.BoardEntry("b", 2.004, 200, ()),
        board.BoardEntry("c", 1.9, 999, ()),
    ]
    assert [entry.name for entry in sorted(entries, key=lambda entry: entry.place)] == ["c", "b", "a"]


def test_a_missing_board_shows_the_programs_of_the_course(once, tmp_path, capsys):
    status, (out, _) = shown(capsys, tmp_path / "none")
    assert status == 0
    assert holds(out, str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_the_table_of_the_course_is_that_of_its_answers_which_reach_full_marks(monkeypatch):
    monkeypatch.setattr(board, "PROBLEMS", score.PROBLEMS)
    entries = [board.make_entry(*pair, sandbox.choose()) for pair in OF_COURSE().items()]
    assert board.table(entries) == board.OWN.read_text(encoding="utf-8")
    assert all(entry.worst <= score.FULL_MARKS for entry in entries)


RUNS = "1.31 1.29 1.33 1.30 1.28 1.35 1.27 1.32 1.36 1.26 1.34"
GOOD = {
    "prediction": "1.30",
    "measurements": RUNS,
    "median": "1.31",
    "interval": "1.27 to 1.35",
    "verdict": "inside",
}


def page(**changes):
    text = TEMPLATE
    for name, value in (GOOD | changes).items():
        text = text.replace(f"{name}:\n", f"{name}: {value}\n")
    return text


def test_a_page_whose_numbers_agree_is_accepted_whatever_its_prose():
    assert check_page(page()) == []
    assert check_page(page(verdict="Inside").replace("## What", "## Anything: 5, what")) == []
    assert check_page(page(prediction="1.5", verdict="outside")) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"median": "1.29"}, "Line 6, median: 1.29; the measurements give 1.31"),
        ({"interval": "1.30 to 1.33"}, r"it covers the median with 61.2%, the page says 95.0%"),
        ({"interval": "1.35 to 1.27"}, "are not two of the measurements, in order"),
        ({"interval": "1.20 to 1.35"}, "are not two of the measurements"),
        ({"interval": "1.27"}, "expected 2 numbers, found 1"),
        ({"verdict": "outside"}, "1.3 lies inside 1.27 to 1.35"),
        ({"verdict": "confirmed"}, "'confirmed'; 1.3 lies inside"),
        ({"prediction": "about 1.3"}, "'about 1.3' is not a list of finite numbers"),
        ({"prediction": "nan"}, "'nan' is not a list of finite numbers"),
        ({"prediction": ""}, "'' is not a list|expected 1 number, found 0"),
        ({"measurements": "1.3 1.3 1.3"}, "expected 6 numbers or more, found 3"),
        ({"prediction": "1,3"}, r"expected 1 number, found 2 in '1,3'\. .*comma"),
        ({"interval": "1,27 to 1,35"}, r"expected 2 numbers, found 4 in .* comma"),
    ],
)
def test_a_number_that_disagrees_is_named_with_its_line(changes, message):
    problems = check_page(page(**changes))
    assert len(problems) == 1
    assert re.search(message, problems[0])


def test_what_disagrees_is_told_in_the_order_of_the_lines_of_the_page():
    wrong = page(median="1.2", interval="1.30 to 1.33", verdict="outside")
    numbers = [int(re.match(r"Line (\d+)", problem)[1]) for problem in check_page(wrong)]
    assert numbers == [6, 7, 9]
    forms = page(measurements="1.3", prediction="x", median="y")
    assert [int(re.match(r"Line (\d+)", problem)[1]) for problem in check_page(forms)] == [4, 5, 6]


def test_a_page_without_a_line_says_which_is_missing():
    assert check_page("prediction: 1") == [
        f"The page has no line `{name}: …`."
        for name in ("median", "interval", "confidence", "measurements", "verdict")
    ]


def test_an_interval_covers_the_median_as_often_as_is_counted():
    rng, hits, tries = np.random.default_rng(0), 0, 4000
    for _ in range(tries):
        runs = sorted(rng.exponential(size=11))
        hits += runs[2] <= np.log(2) <= runs[8]  # the median of an exponential distribution
    runs = list(range(11))
    assert coverage(runs, 2, 8) == pytest.approx(hits / tries, abs=0.02)
    assert coverage(runs, 0, 10) == pytest.approx(1 - 2 / 2**11)


def test_a_page_that_cannot_be_read_or_written_is_one_sentence(tmp_path, capsys):
    assert cli.main(["page", str(tmp_path)]) == 2
    assert holds(capsys.readouterr().err, "Is a directory")
    assert cli.main(["page", str(tmp_path / "new folder" / "page.md")]) == 0
    assert (tmp_path / "new folder" / "page.md").read_text() == TEMPLATE
    (tmp_path / "file").write_text("")
    assert cli.main(["page", str(tmp_path / "file" / "page.md")]) == 2
    assert "page.md" in capsys.readouterr().err
