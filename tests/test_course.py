"""Derived files are what their sources say."""

import json
from types import SimpleNamespace

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnlab import course
from rnnlab.percent import Cell

TWICE = SimpleNamespace(name="twice", points=3, difficulty=2, minutes=10, lines=1)
registry = lambda unit: {"twice": TWICE} if unit == "toy" else {}
LESSON = "# %% [markdown]\n# # 07 Toy: ×2\n#\n# <!-- exercise: twice -->\n\n# %%\n2 * 2\n"
SOLUTION = """# %% [markdown]
# ### Exercise: twice
# <!-- exercise: twice -->

# %%
def twice(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %%
check(twice)
"""
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.fixture
def small(tmp_path):
    """A course of one unit, built."""
    for folder, text in [("notebooks/source", LESSON), ("solutions/source", SOLUTION)]:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "07_toy.py").write_text(text, encoding="utf-8")
    assert course.main([], tmp_path, registry) == 0
    return tmp_path


def sources(path):
    return ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


def test_every_derived_file_is_what_its_source_says():
    texts, errors = course.derived()
    assert not errors
    stale = {
        path.relative_to(course.ROOT).as_posix(): state for path, state in course.differences(texts).items()
    }
    assert not stale, "python -m rnnlab.course builds them"


@given(st.lists(st.tuples(st.sampled_from(["code", "markdown"]), TEXT), max_size=5))
def test_a_notebook_is_byte_for_byte_what_nbformat_writes(cells):
    cells = [Cell(kind, text) for kind, text in cells]
    text = course.notebook(cells, course.cell_ids(cells))
    book = nbformat.reads(text, as_version=4)
    nbformat.validate(book)
    assert nbformat.writes(book) + "\n" == text


def test_the_three_notebooks_of_a_unit_say_what_the_registry_says(small):
    facts = "**twice** · difficulty 2 of 5 · 10 minutes · 3 points · about 1 line · "
    assert sources(small / "notebooks/07_toy.ipynb")[0].endswith(facts + "[exercise](../work/07_toy.ipynb)")
    solved, to_solve = sources(small / "solutions/07_toy.ipynb"), sources(small / "exercises/07_toy.ipynb")
    assert solved[0] == to_solve[0] == f"### Exercise: twice\n{facts}[lesson](../notebooks/07_toy.ipynb)"
    assert "return 2 * x" in solved[1]
    assert to_solve[1:] == [
        'def twice(x):\n    raise NotImplementedError("twice: about 1 line")',
        "check(twice)",
    ]


def test_an_id_stays_when_another_cell_is_inserted_and_is_the_functions_name_where_there_is_one(small):
    ids = [cell["id"] for cell in json.loads((small / "exercises/07_toy.ipynb").read_text())["cells"]]
    source = small / "solutions/source/07_toy.py"
    source.write_text("# %%\nimport numpy as np\n\n" + SOLUTION, encoding="utf-8")
    course.main([], small, registry)
    assert [cell["id"] for cell in json.loads((small / "exercises/07_toy.ipynb").read_text())["cells"]][
        1:
    ] == ids
    assert ids[1] == "twice"


def test_equal_cells_have_different_ids():
    cells = [Cell("code", "step()"), Cell("code", "step()"), Cell("markdown", "step()")]
    assert len(set(course.cell_ids(cells))) == 3


def test_check_names_each_stale_missing_and_stray_file_and_changes_nothing(small, capsys):
    (small / "exercises/07_toy.ipynb").write_text("{}")
    (small / "notebooks/07_toy.ipynb").unlink()
    (small / "solutions/Untitled.ipynb").write_text("{}")
    capsys.readouterr()
    assert course.main(["--check"], small, registry) == 1
    assert capsys.readouterr().out.splitlines() == [
        "stale exercises/07_toy.ipynb",
        "missing notebooks/07_toy.ipynb",
        "stray solutions/Untitled.ipynb",
    ]
    assert (small / "exercises/07_toy.ipynb").read_text() == "{}"


def test_building_mends_what_is_derived_and_leaves_a_stray_file_to_its_owner(small, capsys):
    (small / "exercises/07_toy.ipynb").write_text("{}")
    (small / "notebooks/draft.ipynb").write_text("{}")
    assert course.main([], small, registry) == 1
    assert capsys.readouterr().out.endswith("wrote exercises/07_toy.ipynb\nstray notebooks/draft.ipynb\n")
    (small / "notebooks/draft.ipynb").unlink()
    assert course.main(["--check"], small, registry) == 0


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        (
            "solutions/source/07_toy.py",
            SOLUTION.replace("    ### END SOLUTION\n", ""),
            "07_toy.py:7: ### BEGIN",
        ),
        (
            "solutions/source/07_toy.py",
            SOLUTION.replace("twice", "thrice"),
            "no exercise 'thrice' in rnnlab/checks/toy",
        ),
        (
            "notebooks/source/07_toy.py",
            LESSON + "### BEGIN SOLUTION\n",
            "07_toy.py:7: a solution marker in a lesson",
        ),
        ("notebooks/source/toy.py", LESSON, "toy.py:1: a source is named like 02_bptt.py"),
    ],
)
def test_a_broken_source_is_named_with_its_line_and_keeps_no_other_from_being_built(
    small, capsys, path, text, complaint
):
    (small / path).write_text(text, encoding="utf-8")
    (small / "notebooks/source/08_other.py").write_text("# %%\n1\n")
    assert course.main([], small, registry) == 1
    assert complaint in capsys.readouterr().err
    assert (small / "notebooks/08_other.ipynb").exists()


def test_a_unit_without_checks_has_no_exercises():
    assert course.registered("no_such_unit") == {}
