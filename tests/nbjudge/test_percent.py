"""Source texts become the cells they describe; every mistake in one is named with its line."""

import pytest
from properties import given, st

from nbjudge.authoring.percent import BEGIN, CODE, END, HIDDEN, SourceCell, SourceError, cut, defines, parse

LINE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30)
PROSE = st.lists(LINE, min_size=1, max_size=6).map("\n".join).filter(lambda text: text == text.strip() != "")
PROGRAM = PROSE.filter(lambda text: "# %%" not in text)
CELL = st.one_of(
    st.builds(SourceCell, st.just("code"), PROGRAM), st.builds(SourceCell, st.just("markdown"), PROSE)
)

SOLVED = f"""def twice(x):
    \"\"\"Twice x.\"\"\"
    {BEGIN}
    doubled = x + x
    return doubled
    {END}"""


def written(cell):
    """The py:percent text of a cell, as an author writes it."""
    if cell.kind == "code":
        return f"# %%\n{cell.text}\n"
    return "# %% [markdown]\n" + "".join(f"# {line}".rstrip(" ") + "\n" for line in cell.text.split("\n"))


def plain(cells):
    """Kind and text of each cell; spaces that end a line of prose are not kept."""
    return [(cell.kind, "\n".join(line.rstrip(" ") for line in cell.text.split("\n"))) for cell in cells]


@given(st.lists(CELL.filter(lambda cell: not cell.text.startswith("%%")), min_size=1, max_size=5))
def test_cells_written_as_text_are_read_back(cells):
    prose_opens_a_cell = any(line.startswith("%%") for cell in cells for line in cell.text.split("\n"))
    if not prose_opens_a_cell:
        assert plain(parse("\n".join(map(written, cells)), "lesson.py")) == plain(cells)


def test_a_title_and_leading_comments_are_the_authors_alone():
    cells = parse(
        "# about this file\n\n# %% [markdown] greeting\n# Hello\n#\n# you\n\n# %% the sum\n1 + 1\n", "a.py"
    )
    assert [(c.kind, c.text, c.line) for c in cells] == [
        ("markdown", "Hello\n\nyou", 4),
        ("code", "1 + 1", 9),
    ]


def test_the_rest_of_an_opening_line_is_the_title():
    (cell,) = parse("# %% [mistake] forgets tanh \n# - np.tanh(a)\n# + a\n", "a.py")
    assert (cell.kind, cell.title, cell.text) == ("mistake", "forgets tanh", "- np.tanh(a)\n+ a")


@pytest.mark.parametrize("kind", HIDDEN)
def test_a_cell_that_no_notebook_shows_is_a_program_or_prose(kind):
    program = "# a comment\nx = 1"
    prose = "\n".join(f"# {line}" for line in program.split("\n"))
    (cell,) = parse(f"# %% [{kind}]\n{program if kind in CODE else prose}\n", "a.py")
    assert (cell.kind, cell.text) == (kind, program)


def test_an_empty_cell_stands_for_the_exercise_that_its_title_names():
    _, inclusion = parse("# %%\n1\n\n# %% [exercise] twice\n\n", "a.py")
    assert (inclusion.kind, inclusion.title, inclusion.text) == ("exercise", "twice", "")


def test_an_error_names_the_opening_line_or_a_line_of_the_text():
    (cell,) = parse("# %% [markdown]\n\n\n# Hello\n# you\n", "a.py")
    assert [str(cell.error(offset, "odd")) for offset in (-1, 0, 1)] == [
        "a.py:1: odd",
        "a.py:4: odd",
        "a.py:5: odd",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("print(1)\n", "a.py:1: no cell"),
        ("import os\n# %%\n1\n", "a.py:1: this line stands before"),
        ("# %% [markdown]\n# Hello\nyou\n", "a.py:3: prose stands behind"),
        ("# %%\n\n# %%\n1\n", "a.py:1: an empty cell"),
        (
            "# %%\n1\n# %% [hints]\n# Look.\n",
            r"a.py:3: no cell is \[hints\]; there are .markdown., .exercise., .properties.",
        ),
        ("# %% [exercise]\n", "a.py:1: .*followed by the exercise's name"),
        ("# %% [exercise] twice x\n", "a.py:1: .*followed by the exercise's name"),
        ("# %% [exercise] twice\n\n1\n", "a.py:1: .*by no text"),
        ("# %% [hint]\nLook.\n", "a.py:2: prose stands behind"),
    ],
)
def test_a_text_that_would_lose_a_line_is_refused(text, complaint):
    with pytest.raises(SourceError, match=complaint):
        parse(text, "a.py")


def test_the_exercise_is_the_solution_without_the_marked_lines():
    expected = 'def twice(x):\n    """Twice x."""\n    raise NotImplementedError("twice: about 2 lines")'
    assert cut(SourceCell("code", SOLVED), lambda name: "about 2 lines").text == expected


@given(st.lists(st.sampled_from(["a = 1", "b = 2", ""]), max_size=4), st.lists(st.just("c = 3"), min_size=1))
def test_nothing_between_the_markers_survives_and_nothing_else_is_lost(stored, answer):
    body = [*stored, BEGIN, *answer, END, *stored]
    text = cut(SourceCell("code", "\n".join(["def f():", *(f"    {line}".rstrip() for line in body)]))).text
    assert "c = 3" not in text
    assert text.split("\n") == [
        "def f():",
        *(f"    {line}".rstrip() for line in [*stored, "raise NotImplementedError", *stored]),
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f"def f():\n    {BEGIN}\n    return 1", "s.py:12: .*BEGIN SOLUTION without its .*END SOLUTION"),
        (f"def f():\n    return 1\n    {END}", "s.py:13: .*END SOLUTION without its .*BEGIN SOLUTION"),
        (
            f"def f():\n    {BEGIN}\n    {BEGIN}\n    {END}",
            "s.py:13: .*inside the region that begins on line 12",
        ),
        (f"{BEGIN}\nx = 1\n{END}", "s.py:11: .*outside a function"),
        (f"def f():\n    return 1\n{BEGIN}\nx = 1\n{END}", "s.py:13: .*outside a function"),
        ("def f():\n    ## BEGIN SOLUTION\n    return 1", "s.py:12: '## BEGIN SOLUTION' is not a marker"),
        ("def f():\n    ### begin solution\n    return 1", "s.py:12: '### begin solution' is not a marker"),
        (f"def f():\n    return 1  {END}", "s.py:12: 'return 1  ### END SOLUTION' is not a marker"),
    ],
)
def test_a_marker_that_would_leave_an_answer_in_is_refused(text, complaint):
    with pytest.raises(SourceError, match=complaint):
        cut(SourceCell("code", text, "s.py", 11))


def test_a_solution_is_known_by_the_function_that_holds_it():
    assert defines(SourceCell("code", f"import os\n\ndef helps():\n    pass\n\n{SOLVED}")) == "twice"
    assert defines(SourceCell("code", "def other():\n    pass")) is None
    assert defines(SourceCell("markdown", SOLVED)) is None
