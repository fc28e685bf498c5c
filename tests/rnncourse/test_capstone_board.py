"""The board and the page: honest lines are derived again, edited ones are named and left out."""

import json
import re
import shutil

import nbformat
import numpy as np
import pytest
from values_in import holds

from nbjudge.running import sandbox
from rnncourse import cli
from rnncourse.capstone import board, commands, score
from rnncourse.capstone.launches import Problem
from rnncourse.capstone.page import TEMPLATE, check_page, coverage

SLOW = """
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    up = [(0, l, 0, 0) for l in range(layers)]
    return steps, np.array(up + [(k, l, 0, 0) for l in reversed(range(layers)) for k in (1, 2)])
"""
OWN = board.OWN
FEW = Problem(2, 3, 4, 8, 60), Problem(1, 1, 4, 8, 9)


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """A notebook, and a board with one honest line; two small problems, and no lines of the course."""
    home = tmp_path_factory.mktemp("board")
    cells = [nbformat.v4.new_code_cell(text) for text in ("import numpy as np", "secret = 1", SLOW)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), home / "19_capstone.ipynb")
    (home / "own.jsonl").write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board, "PROBLEMS", FEW)
        patch.setattr(board, "OWN", home / "own.jsonl")
        words = [str(home / "board"), "--add", str(home / "19_capstone.ipynb"), "--as", "blue heron"]
        assert cli.main(["board", *words]) == 0
        yield home


@pytest.fixture
def notebook(once):
    return once / "19_capstone.ipynb"


@pytest.fixture
def folder(once, tmp_path):
    return shutil.copytree(once / "board", tmp_path / "board")


def shown(capsys, *words):
    status = cli.main(["board", *map(str, words)])
    return status, capsys.readouterr()


def test_a_schedule_is_added_and_derived_again(folder, capsys):
    status, (out, _) = shown(capsys, folder)
    assert status == 0
    assert "blue heron" in out
    assert "1 derived again, 0 left out" in out
    (line,) = (folder / board.FILE).read_text().splitlines()
    entry = json.loads(line)
    program = (folder / f"{entry['schedule'][:16]}.py").read_text()
    assert "secret" not in program
    names = {}
    exec(program, names)
    want = [score.score(problem, names["my_schedule"](*problem)).ratio for problem in FEW]
    assert entry["ratios"] == pytest.approx(want)
    assert entry["worst"] == max(entry["ratios"])


EDITS = {
    "its worst is 1, its schedule gives": lambda entry: entry | {"worst": 1.0},
    "its saved_bytes is 1, its schedule gives": lambda entry: entry | {"saved_bytes": 1},
    "its ratios is 1, 1, its schedule gives": lambda entry: entry | {"ratios": [1.0, 1.0]},
    "its saved_bytes is 1000": lambda entry: entry | {"saved_bytes": 10**400},
    "its worst is -9007199254740993": lambda entry: entry | {"worst": -(2**53) - 1},
    "its worst is nan": lambda entry: entry | {"worst": float("nan")},
    "its ratios is [inf": lambda entry: entry | {"ratios": [float("inf"), 1]},
    "its ratios is 'x'": lambda entry: entry | {"ratios": "x"},
    f"its version is 1, the rules are at {score.VERSION}": lambda entry: entry | {"version": 1},
    "its schedule 0000000000000000.py is missing": lambda entry: entry | {"schedule": "0" * 64},
    "its schedule is '../../etc/passwd'": lambda entry: entry | {"schedule": "../../etc/passwd"},
    "its name is 'a": lambda entry: entry | {"name": "a\x1b[2J"},
    "it should have the fields name, schedule": lambda entry: {"name": "x"},
}


def test_edited_lines_are_named_and_left_out(folder, capsys):
    path = folder / board.FILE
    honest = path.read_text()
    path.write_text(honest + "".join(json.dumps(edit(json.loads(honest))) + "\n" for edit in EDITS.values()))
    status, (out, _) = shown(capsys, folder)
    assert status == 1
    assert f"1 derived again, {len(EDITS)} left out" in out
    for number, words in enumerate(EDITS, 2):
        assert re.search(rf"left out: {board.FILE} line {number}\b.*: {re.escape(words)}", out)
    assert path.read_text().startswith(honest)  # nothing is lost


def test_a_line_that_is_no_json_and_a_changed_program_are_left_out(folder, capsys):
    path = folder / board.FILE
    path.write_text("{" + path.read_text())
    status, (out, _) = shown(capsys, folder)
    assert status == 1
    assert holds(out, "1", "JSON")
    path.write_text(path.read_text()[1:])
    (program,) = folder.glob("*.py")
    program.write_text(program.read_text() + "# faster\n")
    status, (out, _) = shown(capsys, folder)
    assert status == 1
    assert holds(out, program.name, "hash")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--add", "{notebook}"], "--add NOTEBOOK and --as NAME go together"),
        (["--as", "me"], "--add NOTEBOOK and --as NAME go together"),
        (["--add", "{notebook}", "--as", "blue heron"], "has this schedule of blue heron already"),
        (["--add", "{notebook}", "--as", "x" * 41], "expected 1 to 40 letters"),
        (["--add", "{notebook}", "--as", "a/b"], "the pseudonym is 'a/b'"),
        (["--add", "{notebook}.txt", "--as", "me"], "19_capstone.ipynb.txt does not exist"),
    ],
)
def test_what_cannot_be_added_is_one_sentence(folder, notebook, capsys, words, sentence):
    before = (folder / board.FILE).read_bytes()
    status, (_, error) = shown(capsys, folder, *(word.format(notebook=notebook) for word in words))
    assert status == 2
    assert error.startswith("rnnlab board: ")
    assert error.count("\n") == 1
    assert sentence in error
    assert (folder / board.FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("def my_schedule(*sizes): return 1, []", "There is no backward of layer 0, block 0"),
        ("def my_schedule(*sizes): raise KeyError('h')", "KeyError: 'h'"),
        ("def my_schedule(", "its program is not valid Python"),
        ("import rnncourse.capstone\ndef my_schedule(*sizes): return 1, []", "may not be scored"),
    ],
)
def test_a_program_that_may_not_be_scored_says_why(once, program, words):
    with pytest.raises(board.Unusable, match=r"its (schedule|program)") as refused:
        board.make_entry("me", program, sandbox.choose())
    assert words in str(refused.value)


def test_equal_ratios_are_ordered_by_the_bytes_that_they_save():
    entries = [
        board.Entry("a", "", 2.001, 300, ()),
        board.Entry("b", "", 2.004, 200, ()),
        board.Entry("c", "", 1.9, 999, ()),
    ]
    assert [entry.name for entry in sorted(entries, key=lambda entry: entry.place)] == ["c", "b", "a"]


def test_a_missing_board_shows_the_lines_of_the_course(once, tmp_path, capsys):
    status, (out, _) = shown(capsys, tmp_path / "none")
    assert status == 0
    assert holds(out, str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_the_lines_of_the_course_are_derived_again(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(board, "PROBLEMS", score.PROBLEMS)
    monkeypatch.setattr(board, "OWN", OWN)
    status, (out, _) = shown(capsys, tmp_path)
    assert status == 0
    assert "2 derived again, 0 left out" in out


def test_the_lines_of_the_course_are_of_its_answers_and_reach_full_marks():
    entries = [entry for _, entry in board.read(OWN)]
    own = {name: board.digest(program) for name, program in board.course_programs().items()}
    assert {entry.name: entry.schedule for entry in entries} == own
    assert all(max(entry.ratios) == entry.worst <= score.FULL_MARKS for entry in entries)


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
    ("changes", "words"),
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
def test_a_number_that_disagrees_is_named_with_its_line(changes, words):
    problems = check_page(page(**changes))
    assert len(problems) == 1
    assert re.search(words, problems[0])


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


def test_the_page_command_writes_a_template_once_and_checks_a_page(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(commands, "_make_html", lambda chosen, text: 0)
    path = tmp_path / "page.md"
    assert cli.main(["page", str(path)]) == 2
    assert "--new" in capsys.readouterr().err
    assert cli.main(["page", "--new", str(path)]) == 0
    assert cli.main(["page", str(path)]) == 1  # nothing is filled in
    path.write_text(page())
    assert cli.main(["page", "--new", str(path)]) == 2
    assert path.read_text() == page()
    assert cli.main(["page", str(path)]) == 0
    path.write_bytes(b"\xff\xfe\x00")
    assert cli.main(["page", str(path)]) == 2
    assert "not UTF-8 text" in capsys.readouterr().err


def test_a_page_that_cannot_be_read_or_written_is_one_sentence(tmp_path, capsys):
    assert cli.main(["page", str(tmp_path)]) == 2
    assert holds(capsys.readouterr().err, "Is a directory")
    assert cli.main(["page", "--new", str(tmp_path / "new folder" / "page.md")]) == 0
    assert (tmp_path / "new folder" / "page.md").read_text() == TEMPLATE
    (tmp_path / "file").write_text("")
    assert cli.main(["page", "--new", str(tmp_path / "file" / "page.md")]) == 2
    assert "page.md" in capsys.readouterr().err
