"""The pictures of schedules, and the page: their numbers are those of scores, and one file is enough."""

import re

import nbformat
import numpy as np
import pytest
from test_capstone_board import SLOW
from test_capstone_board import page as filled_page

from rnncourse import cli
from rnncourse.capstone import own_numbers
from rnncourse.capstone.launches import BACKWARD, FORWARD, NAMES, WEIGHTS, Illegal, Problem
from rnncourse.capstone.own_numbers import web_page
from rnncourse.capstone.page import TEMPLATE, coverage, read_page
from rnncourse.capstone.schedule_picture import AGAIN, one_layer_at_a_time, run_of, show_schedule
from rnncourse.capstone.score import score

SMALL = Problem(layers=4, steps=3, minibatch=2, hidden_size=8, memory=60)
PROGRAM = f"import numpy as np\n{SLOW}"


def recomputing(layers, steps, minibatch, hidden_size, memory):
    """The lower half of the layers runs forward twice; two streams."""
    block, rows = one_layer_at_a_time(layers, steps, minibatch, hidden_size, memory)
    again = [(FORWARD, layer, 0, 1) for layer in range(layers // 2)]
    middle = layers + layers // 2 * 2
    return block, np.array([*rows[:middle].tolist(), *again, *rows[middle:].tolist()])


def page():
    """A page that is right, with markup in its prose."""
    text = filled_page(prediction="1.40", verdict="outside")
    return text.replace("why\n", "why\n\nBecause <script>alert(1)</script>.\n")


@pytest.mark.parametrize("function", [one_layer_at_a_time, recomputing])
def test_a_drawn_run_has_the_time_the_bound_and_the_memory_of_the_score(function):
    run, scored = run_of(SMALL, function(*SMALL)), score(SMALL, function(*SMALL))
    assert run.end == pytest.approx(1e-3 * scored.microseconds)
    assert run.end / run.bound == pytest.approx(scored.ratio)
    assert max(end for bars in run.bars.values() for _, end in bars) == pytest.approx(run.end)
    assert max(value for _, value in run.memory) <= run.limit
    if function is one_layer_at_a_time:  # in one stream the order of issue is that of time
        assert max(value for _, value in run.memory) == pytest.approx(1e-6 * scored.saved_bytes)
    assert run.memory[-1][1] == pytest.approx(0, abs=1e-9)  # in the end everything is free
    assert run.limit == pytest.approx(1e-6 * 4 * SMALL.memory * SMALL.minibatch * SMALL.hidden_size)


def test_recomputed_launches_are_bars_of_their_own():
    once, twice = (run_of(SMALL, function(*SMALL)) for function in (one_layer_at_a_time, recomputing))
    assert set(once.bars) == {(0, name) for name in NAMES}
    assert set(twice.bars) == {(0, name) for name in NAMES} | {(1, AGAIN)}
    assert len(twice.bars[1, AGAIN]) == len(twice.bars[0, NAMES[FORWARD]]) / 2
    assert len(twice.bars[0, NAMES[BACKWARD]]) == len(once.bars[0, NAMES[BACKWARD]])
    assert len(twice.bars[0, NAMES[WEIGHTS]]) == len(once.bars[0, NAMES[WEIGHTS]])


def test_the_picture_states_each_schedule_and_refuses_what_cannot_run():
    sheet = show_schedule({"a": one_layer_at_a_time, "b": recomputing}, SMALL)
    for function in (one_layer_at_a_time, recomputing):
        assert f"{score(SMALL, function(*SMALL)).ratio:.2f}" in sheet.alt
    assert sheet.tag().count("lower bound") == 2 * 2 + 2 * 2  # in each panel, in alt and desc
    with pytest.raises(Illegal, match=r"\b21 arrays.*\b20\b"):
        show_schedule({"a": one_layer_at_a_time}, SMALL._replace(memory=20))


def test_the_page_is_one_file_with_the_learners_numbers_and_no_code_of_theirs():
    runs = {name: run_of(SMALL, one_layer_at_a_time(*SMALL)) for name in ("before", "now: <b>")}
    text = web_page(own_numbers.ComparedSchedule(1.875, runs), *read_page(page()))
    assert "<script" not in text
    assert "<b>now" not in text
    for number in ("1.88 ×", "1.31", "1.0 times"):
        assert number in text
    assert not re.search(r"""(?:src|href)=|url\(|@import""", text)  # nothing is loaded
    assert {*re.findall(r"https?://[^\"' ]+", text)} <= {"http://www.w3.org/2000/svg"}
    assert "outside" in text
    assert text.count("<svg") == 2
    assert web_page(None, *read_page(page())).count("<svg") == 1


def test_the_page_command_writes_a_template_once_checks_a_page_and_makes_the_file_beside_it(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(own_numbers, "own_row", lambda: None)
    path = tmp_path / "page.md"
    assert cli.main(["page", str(path)]) == 0
    assert path.read_text() == TEMPLATE
    for mistaken in (TEMPLATE, page().replace("outside", "inside")):
        path.write_text(mistaken)
        assert cli.main(["page", str(path)]) == 1
        assert not path.with_suffix(".html").exists()  # a page with a mistake becomes no file
    path.write_text(page())
    assert cli.main(["page", str(path)]) == 0
    assert path.read_text() == page()
    assert "1.31" in path.with_suffix(".html").read_text()
    assert "page.html" in capsys.readouterr().out
    path.write_bytes(b"\xff\xfe\x00")
    assert cli.main(["page", str(path)]) == 2
    assert "not UTF-8 text" in capsys.readouterr().err


def test_the_page_has_the_learners_schedule_if_it_may_be_scored(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(own_numbers, "PROBLEMS", (SMALL,))
    monkeypatch.setattr(own_numbers, "SHOWN", SMALL)
    path = tmp_path / "19_capstone.ipynb"
    assert own_numbers.own_row(path) is None
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(PROGRAM)]), path)
    row = own_numbers.own_row(path)
    want = score(SMALL, one_layer_at_a_time(*SMALL))
    assert row.worst == want.ratio
    assert [run.end for run in row.runs.values()] == [pytest.approx(1e-3 * want.microseconds)] * 2
    monkeypatch.setattr(own_numbers, "PROBLEMS", (SMALL, SMALL._replace(memory=3)))
    assert own_numbers.own_row(path) is None
    assert "memory" in capsys.readouterr().out


def test_a_learners_own_schedule_is_taken_from_the_notebook_and_else_the_courses(tmp_path, capsys):
    path = tmp_path / "19_capstone.ipynb"
    assert list(own_numbers.own_schedule(SMALL, path)) == ["the course's standard"]
    cells = [nbformat.v4.new_code_cell(PROGRAM)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    assert list(own_numbers.own_schedule(SMALL, path)) == ["yours"]
    cells[0].source = PROGRAM.replace("(1, 2)", "(1,)")
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    (shown,) = own_numbers.own_schedule(SMALL, path).values()
    assert score(SMALL, shown(*SMALL)).ratio >= 1
    assert "layer 0, block 0" in capsys.readouterr().out


def test_a_page_is_read_as_it_is_checked():
    values, prose = read_page(page())
    assert values["interval"] == [1.27, 1.35]
    assert coverage(values["measurements"], *values["interval"]) > 0.95
    assert list(prose) == [
        line.removeprefix("## ") for line in TEMPLATE.splitlines() if line.startswith("##")
    ]
