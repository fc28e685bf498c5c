"""The text of an exercise is read as its author wrote it; what is wrong in it is named with file and line."""

import pytest

from nbjudge.authoring.exercise_text import read_exercise
from nbjudge.authoring.percent import SourceError

TEXT = """# %% [markdown]
# ### Exercise: twice

# %%
def twice(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% [properties]
# points: 4
# difficulty: 2
# minutes: 15
# lines: 1

# %% [hint]
# Two lines
# of one paragraph.
#
# Another.

# %% [hint]
# Key idea.

# %% [hint]
# Near-code.

# %% [mistake] squares
# -     return 2 * x
# +     return x * x

# %% [right]
def twice(x):
    return x + x

# %% [reference]
def twice(x):
    return x * 2
"""


def read(old="", new=""):
    """The text with one edit, read."""
    assert old in TEXT
    return read_exercise(TEXT.replace(old, new, 1), "twice.py", "twice")


def test_each_part_of_a_text_is_read():
    text = read()
    assert text.name == "twice"
    assert [cell.kind for cell in text.cells] == ["markdown", "code"]
    assert (text.points, text.difficulty, text.minutes, text.lines) == (4, 2, 15, 1)
    assert text.hints == ("Two lines of one paragraph.\n\nAnother.", "Key idea.", "Near-code.")
    assert text.mistakes == (("squares", "    return 2 * x", "    return x * x"),)
    assert text.right == ("def twice(x):\n    return x + x\n",)
    assert text.reference == "def twice(x):\n    return x * 2\n"


def test_the_answer_that_is_shown_is_the_judges_own_where_no_other_is_stated():
    assert read(TEXT[TEXT.index("# %% [reference]") :]).reference is None


def test_an_edit_of_many_lines_keeps_their_order_and_their_blank_lines():
    edit = "# - a = 1\n# -\n# - b = 2\n# + a = 2\n# +\n# + b = 1"
    ((_, old, new),) = read("# -     return 2 * x\n# +     return x * x", edit).mistakes
    assert (old, new) == ("a = 1\n\nb = 2", "a = 2\n\nb = 1")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "[properties]",
            "[markdown]",
            "twice.py:1: an exercise has one .properties. cell and 3 .hint. cells",
        ),
        ("[hint]", "[markdown]", "twice.py:1: an exercise has one .properties. cell and 3 .hint. cells"),
        (
            "# %% [reference]",
            "# %% [reference]\nx = 1\n\n# %% [reference]",
            "twice.py:39: a second .reference.",
        ),
        ("# points: 4\n", "", "twice.py:11: expected the lines points: NUMBER, difficulty: NUMBER, minutes"),
        ("points: 4", "points: four", "twice.py:11: expected the lines points: NUMBER"),
        ("points: 4", "points: 4\n# points: 5", "twice.py:11: expected the lines points: NUMBER"),
        (
            "points: 4\n# difficulty: 2",
            "difficulty: 2\n# points: 4",
            "twice.py:11: expected the lines points",
        ),
        (
            "# -     return 2",
            "# return 2",
            "twice.py:29: a line of a mistake begins with .*, this one is 'return 2",
        ),
        ("# -     return 2", "# -return 2", "twice.py:29: a line of a mistake begins with .*'-return 2"),
        ("x * x\n", "x * x\n# - x\n", "twice.py:31: the lines with - stand before the lines with +"),
        ("[mistake] squares", "[mistake]", "twice.py:28: a mistake has a name, lines with - and lines with"),
        ("# +     return x * x\n", "", "twice.py:28: a mistake has a name, lines with - and lines with"),
        ("# -     return 2 * x\n", "", "twice.py:28: a mistake has a name, lines with - and lines with"),
    ],
)
def test_what_is_wrong_in_a_text_is_named_with_its_line(old, new, complaint):
    with pytest.raises(SourceError, match=complaint):
        read(old, new)
