"""Cells that a browser cannot run are prose with recorded outputs there; all others stay as they are."""

import re
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from nbjudge.authoring.course import ROOT
from pages import recorded, run

SOURCE = """# %%
import numpy as np

# %% needs a compiler
from numba import njit
print("compiled")
"""
DRAWING = '<svg role="img" aria-label="Two &lt; three.">\n<text>a</text>\n</svg>'


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """A lesson of a clone, whose second cell needs a compiler, and its outputs."""
    monkeypatch.setattr(recorded, "ROOT", tmp_path)
    source = tmp_path / "notebooks/source/06_loops.py"
    source.parent.mkdir(parents=True)
    source.write_text(SOURCE)
    path = tmp_path / "notebooks/06_loops.ipynb"
    cells = [new_code_cell("import numpy as np"), new_code_cell('from numba import njit\nprint("compiled")')]
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Loops"), *cells]), path)
    book = nbformat.read(path, as_version=4)
    book.cells[2].outputs = [
        new_output("stream", name="stdout", text="compiled\n"),
        new_output("stream", name="stdout", text="twice\n"),
        new_output("stream", name="stderr", text="a warning\n"),
        new_output("display_data", {"text/html": f"<b>7</b>\n{DRAWING}", "text/plain": "seven"}),
        new_output("execute_result", {"text/plain": "8"}, execution_count=2),
    ]
    ran = SimpleNamespace(book=book, machine="a computer", date="1999-12-31")
    monkeypatch.setattr(run, "run_lesson", lambda path: ran)
    return path


def test_a_cell_that_needs_a_compiler_becomes_its_program_and_what_it_showed(lesson):
    prose, live, cell = nbformat.reads(recorded.for_browser(lesson), as_version=4).cells
    assert (prose.source, live.source, cell.cell_type) == ("# Loops", "import numpy as np", "markdown")
    parts = [
        "needs a compiler",
        "a computer, 1999-12-31",
        "njit",
        "\ncompiled\ntwice\n",
        "<b>7</b>",
        "\n8",
    ]
    assert sorted(parts, key=cell.source.index) == parts
    assert "a warning" not in cell.source
    assert 'alt="Two &lt; three."' in cell.source
    assert re.search(r'src="data:image/svg\+xml;base64,\w+', cell.source)
    assert "<svg" not in cell.source


def test_an_exercises_cell_has_no_outputs_since_it_uses_an_answer(lesson):
    path = lesson.parents[1] / "exercises/06_loops.ipynb"
    (lesson.parents[1] / "solutions/source").mkdir(parents=True)
    (lesson.parents[1] / "solutions/source/06_loops.py").write_text(SOURCE)
    path.parent.mkdir()
    path.write_bytes(lesson.read_bytes())
    cell = nbformat.reads(recorded.for_browser(path), as_version=4).cells[2]
    assert "needs a compiler" in cell.source
    assert "\ncompiled\n" not in cell.source


def test_a_notebook_without_such_cells_stays_byte_for_byte():
    path = ROOT / "notebooks/02_bptt.ipynb"
    assert recorded.for_browser(path) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(ROOT.glob("*s/source/0[678]_*.py")), ids=str)
def test_each_cell_that_says_so_is_a_cell_of_the_notebook(path):
    folder = {"notebooks": "notebooks", "solutions": "exercises"}[path.parts[-3]]
    notebook = ROOT / folder / f"{path.stem}.ipynb"
    programs = {cell.source for cell in nbformat.read(notebook, as_version=4).cells}
    assert recorded.needs(notebook).keys() <= programs
