"""Derived files are what their sources say."""

import json
import re
import zlib

import nbformat
import pytest
from properties import given, st
from values_in import holds

from nbjudge.answers import unpack
from nbjudge.authoring import course
from nbjudge.authoring.percent import SourceCell
from rnncourse import checks

LESSON = "# %% [markdown]\n# # 07 Toy: ×2\n#\n# <!-- exercise: twice -->\n\n# %%\n2 * 2\n"
SOLUTION = "# %%\nimport numpy as np\n\n# %% [exercise] twice\n"
EXERCISE = """# %% [markdown]
# ### Exercise: twice
# <!-- exercise: twice -->

# %%
def twice(x):
    ### BEGIN SOLUTION
    return np.multiply(2, x)
    ### END SOLUTION

# %%
check(twice)

# %% [properties]
# points: 3
# difficulty: 2
# minutes: 10
# lines: 1

# %% [hint]
# Orient.

# %% [hint]
# Key idea.

# %% [hint]
# Near-code.

# %% [mistake] adds two
# - np.multiply
# + np.add

# %% [right]
def twice(x):
    return x + x
"""
TABLES = course._loaded(course.ROOT / "docs/tables.py", "docs_tables")
SOURCES = {
    "notebooks/source/07_toy.py": LESSON,
    "solutions/source/07_toy.py": SOLUTION,
    "solutions/source/07_toy/twice.py": EXERCISE,
}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.fixture
def small(tmp_path):
    """A course of one lesson, built."""
    for path, text in SOURCES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    assert course.main([], tmp_path) == 0
    return tmp_path


def sources(path):
    return ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


def test_every_derived_file_is_what_its_source_says():
    texts, errors = course.derived()
    assert not errors
    stale = {
        path.relative_to(course.ROOT).as_posix(): state for path, state in course.differences(texts).items()
    }
    assert not stale, "python -m rnncourse.build builds them"


@given(st.lists(st.tuples(st.sampled_from(["code", "markdown"]), TEXT), max_size=5))
def test_a_notebook_is_byte_for_byte_what_nbformat_writes(cells):
    cells = [SourceCell(kind, text) for kind, text in cells]
    text = course.notebook(cells, course.cell_ids(cells))
    book = nbformat.reads(text, as_version=4)
    nbformat.validate(book)
    assert nbformat.writes(book) + "\n" == text


def test_the_three_notebooks_of_a_lesson_say_what_the_exercises_text_says(small):
    properties = "**twice** · difficulty 2 of 5 · 10 minutes · 3 points · about 1 line · "
    assert sources(small / "notebooks/07_toy.ipynb")[0].endswith(
        properties + "[exercise](../work/07_toy.ipynb)"
    )
    solved, to_solve = sources(small / "solutions/07_toy.ipynb"), sources(small / "exercises/07_toy.ipynb")
    assert solved[1] == to_solve[1] == f"### Exercise: twice\n{properties}[lesson](../notebooks/07_toy.ipynb)"
    assert "return np.multiply(2, x)" in solved[2]
    assert to_solve[2:] == [
        'def twice(x):\n    raise NotImplementedError("twice: about 1 line")',
        "check(twice)",
    ]


def test_hints_mistakes_and_other_answers_stand_in_no_notebook(small):
    for path in small.glob("*/07_toy.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert not [word for word in ("Near-code", "adds two", "np.add", "x + x") if word in text]


def test_the_packed_answers_hold_what_the_exercises_text_says(small):
    (answer,) = unpack((small / "rnncourse/checks/packed/toy.answers").read_bytes())
    assert (answer.name, answer.points, answer.hints[2]) == ("twice", 3, "Near-code.")
    assert answer.function(21) == 42
    assert answer.mutated(answer.mutants[0])(21) == 23


def test_the_exercises_of_a_lesson_are_those_that_its_solution_source_includes(small):
    (small / "solutions/source/07_toy/draft.py").write_text("no text of an exercise", encoding="utf-8")
    assert {name: text.points for name, text in course.exercises_of(small, "07_toy").items()} == {"twice": 3}
    assert course.exercises_of(small, "08_other") == {}


def test_an_exercise_that_the_lesson_alone_names_takes_its_place_among_those_included(small):
    for name, place in (("first", "07 Toy: ×2"), ("last", "<!-- exercise: twice -->")):
        text = EXERCISE.replace("twice", name)
        (small / f"solutions/source/07_toy/{name}.py").write_text(text, encoding="utf-8")
        path = small / "notebooks/source/07_toy.py"
        lesson = path.read_text(encoding="utf-8").replace(place, f"{place}\n# <!-- exercise: {name} -->")
        path.write_text(lesson, encoding="utf-8")
    (small / "solutions/source/07_toy.py").write_text(f"{SOLUTION}\n# %%\nprogress()\n", encoding="utf-8")
    assert course.main([], small) == 0
    assert ids(small / "exercises/07_toy.ipynb")[2:-1:3] == ["first", "twice", "last"]
    assert [*course.exercises_of(small, "07_toy")] == ["first", "twice", "last"]


def test_tables_of_lessons_in_pages_are_built_from_the_lessons_and_exercises(tmp_path):
    course_map, teachers = (
        re.sub(r"(?<=\| )\d+(?= \|$)", "777", (course.ROOT / page).read_text(encoding="utf-8"), flags=re.M)
        for page in TABLES.PAGES
    )
    for page, text in zip(TABLES.PAGES, (course_map, teachers), strict=True):
        (tmp_path / page).parent.mkdir(exist_ok=True)
        (tmp_path / page).write_text(text, encoding="utf-8")
    (tmp_path / "notebooks").symlink_to(course.ROOT / "notebooks")
    answers = {lesson: [*checks.answers(lesson).values()] for lesson in checks.LESSONS}
    built = TABLES.pages(tmp_path, answers)
    assert min(course_map.count(" 777 |"), teachers.count(" 777 |")) >= len(checks.LESSONS)
    assert not any(b" 777 |" in text for text in built.values())
    assert "notebooks/02_bptt.ipynb) | back-prop" in built[tmp_path / "README.md"].decode()
    assert "| 4 | 04 Gradients read off a picture | 190 |" in built[tmp_path / "docs/teachers.md"].decode()


def ids(path):
    return [cell["id"] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


def test_an_id_stays_when_another_cell_is_inserted_and_is_the_functions_name_if_it_has_one(small):
    before = ids(small / "exercises/07_toy.ipynb")
    (small / "solutions/source/07_toy.py").write_text(f"# %%\nimport math\n\n{SOLUTION}", encoding="utf-8")
    course.main([], small)
    assert ids(small / "exercises/07_toy.ipynb")[1:] == before
    assert before[2] == "twice"


def test_equal_cells_have_different_ids():
    cells = [SourceCell("code", "step()"), SourceCell("code", "step()"), SourceCell("markdown", "step()")]
    assert len(set(course.cell_ids(cells))) == 3


def test_check_names_each_stale_missing_and_stray_file_and_changes_nothing(small, capsys):
    (small / "exercises/07_toy.ipynb").write_text("{}")
    (small / "notebooks/07_toy.ipynb").unlink()
    (small / "solutions/Untitled.ipynb").write_text("{}")
    capsys.readouterr()
    assert course.main(["--check"], small) == 1
    assert capsys.readouterr().out.splitlines() == [
        "stale exercises/07_toy.ipynb",
        "missing notebooks/07_toy.ipynb",
        "stray solutions/Untitled.ipynb",
    ]
    assert (small / "exercises/07_toy.ipynb").read_text() == "{}"


def test_building_mends_what_is_derived_and_leaves_a_stray_file_to_its_owner(small, capsys):
    (small / "exercises/07_toy.ipynb").write_text("{}")
    (small / "notebooks/draft.ipynb").write_text("{}")
    assert course.main([], small) == 1
    assert capsys.readouterr().out.endswith("wrote exercises/07_toy.ipynb\nstray notebooks/draft.ipynb\n")
    (small / "notebooks/draft.ipynb").unlink()
    assert course.main(["--check"], small) == 0


@pytest.mark.parametrize(
    ("path", "old", "new", "complaint"),
    [
        ("solutions/source/07_toy/twice.py", "    ### END SOLUTION\n", "", "07_toy/twice.py:7: ### BEGIN"),
        (
            "solutions/source/07_toy/twice.py",
            "exercise: twice",
            "exercise: thrice",
            "07_toy/twice.py:2: no exercise 'thrice' in solutions/source/07_toy.py, which includes twice",
        ),
        (
            "solutions/source/07_toy/twice.py",
            "# %% [properties]",
            "# %% [hint]",
            "07_toy/twice.py:1: an exercise has",
        ),
        (
            "solutions/source/07_toy/twice.py",
            "# - np.multiply",
            "# - np.divide",
            "07_toy/twice.py:6: the mistake 'adds two' edits 'np.divide', which is not in the answer",
        ),
        (
            "solutions/source/07_toy.py",
            "] twice",
            "] thrice",
            "07_toy.py:4: it includes thrice, but there is no solutions/source/07_toy/thrice.py",
        ),
        (
            "solutions/source/07_toy.py",
            "# %%\n",
            "# %% [hint]\n# A hint.\n\n# %%\n",
            "07_toy.py:1: a [hint] cell outside the text of an exercise",
        ),
        (
            "notebooks/source/07_toy.py",
            "2 * 2\n",
            "2 * 2\n### BEGIN SOLUTION\n",
            "07_toy.py:7: a solution marker in a lesson",
        ),
        (
            "notebooks/source/07_toy.py",
            "# %%\n",
            "# %% [exercise] twice\n\n# %%\n",
            "07_toy.py:6: a [exercise] cell in a lesson",
        ),
    ],
)
def test_a_broken_source_is_named_with_its_line_and_keeps_no_other_from_being_built(
    small, capsys, path, old, new, complaint
):
    assert old in SOURCES[path]
    (small / path).write_text(SOURCES[path].replace(old, new, 1), encoding="utf-8")
    (small / "notebooks/source/08_other.py").write_text("# %%\n1\n")
    assert course.main([], small) == 1
    assert complaint in capsys.readouterr().err
    assert (small / "notebooks/08_other.ipynb").exists()


def test_a_source_without_a_number_is_refused(small, capsys):
    (small / "notebooks/source/toy.py").write_text(LESSON, encoding="utf-8")
    assert course.main([], small) == 1
    assert holds(capsys.readouterr().err, "toy.py", "1", "02_bptt.py")


def test_packed_answers_that_another_compressor_wrote_are_not_stale(small):
    path = small / "rnncourse/checks/packed/toy.answers"
    path.write_bytes(zlib.compress(zlib.decompress(path.read_bytes()), 1))
    assert course.main(["--check"], small) == 0
    path.write_bytes(b"no answers")
    assert course.main(["--check"], small) == 1


def test_a_drawing_that_its_script_no_longer_makes_is_stale_and_one_without_a_script_is_stray(small, capsys):
    script, text = small / "drawings/__init__.py", "def files():\n    return {'moon.svg': b'%s'}\n"
    script.parent.mkdir()
    script.write_text(text % "new", encoding="utf-8")
    assert course.main([], small) == 0
    script.write_text(text % "full moon", encoding="utf-8")
    (small / "rnncourse/drawings/sun.svg").write_text("<svg/>")
    capsys.readouterr()
    assert course.main(["--check"], small) == 1
    assert capsys.readouterr().out == "stale rnncourse/drawings/moon.svg\nstray rnncourse/drawings/sun.svg\n"
    assert course.main([], small) == 1
    assert (small / "rnncourse/drawings/moon.svg").read_bytes() == b"full moon"
