"""A packed answer is the function with the statements of its notebook that it uses, and no others."""

import pytest

from nbjudge.answers import pack, unpack
from nbjudge.authoring.course import packed_answer
from nbjudge.authoring.exercise_text import ExerciseText, read_exercise
from nbjudge.authoring.percent import SourceError, parse
from nbjudge.exercise import Code, Mutant
from rnncourse import checks
from rnncourse.checks.answers import answers

HEAD = "".join(f"# {name}: 1\n" for name in ("points", "difficulty", "minutes", "lines"))
HEAD = f"# %% [properties]\n{HEAD}" + 3 * "\n# %% [hint]\n# Look.\n"
STEP = """# %%
def step(x):
    ### BEGIN SOLUTION
    y = np.tanh(scale * x)
    return clipped(y)
    ### END SOLUTION
"""
NOTEBOOK = """# %%
import math
import numpy as np

# %%
scale = 2
x = absent(scale)
limit, other = 0.5, 7

# %%
def clipped(y):
    return np.minimum(y, limit)

# %%
def unused(y):
    return y

# %%
print("a statement that shows something")
check(step)
step = use(step)
"""


def exercise(text: str = "", step: str = STEP) -> ExerciseText:
    return read_exercise(f"{step}\n{HEAD}\n{text}", "step.py", "step")


def packed(text: str = "", step: str = STEP):
    """The packed answer of `step`, whose cell stands behind those of NOTEBOOK."""
    own = exercise(text, step)
    answer = packed_answer([*parse(NOTEBOOK, "lesson.py"), *own.cells], own)
    return answer


def test_what_the_answer_uses_directly_or_not_is_given_and_nothing_else():
    assert packed().prelude.split("\n") == [
        "import numpy as np",
        "scale = 2",
        "limit, other = (0.5, 7)",
        "def clipped(y):",
        "    return np.minimum(y, limit)",
        "",
    ]


def test_a_parameter_with_the_name_of_a_statement_elsewhere_does_not_need_it():
    assert "absent" not in packed().prelude
    assert packed().function(0.0) == 0.0


def test_the_answer_itself_is_never_given_before_it_is_defined():
    assert "use(step)" not in packed("# %% [mistake] calls itself\n# - clipped(y)\n# + step(y)\n").prelude


def test_what_only_a_known_mistake_uses_is_given_too():
    answer = packed("# %% [mistake] forgets to clip\n# - clipped(y)\n# + unused(y)\n")
    assert "def unused" in answer.prelude
    assert answer.mutated(answer.mutants[0])(9.0) > 0.9


def test_the_judges_own_answer_stands_in_for_the_one_that_is_shown():
    answer = packed("# %% [reference]\ndef step(x):\n    return math.inf\n")
    assert answer.source == "def step(x):\n    return math.inf\n"
    assert answer.prelude == "import math\n"


def test_the_source_holds_no_markers():
    assert packed().source == "def step(x):\n    y = np.tanh(scale * x)\n    return clipped(y)\n"


def test_an_edit_that_fits_no_line_of_the_answer_is_refused_with_its_name():
    with pytest.raises(
        SourceError, match=r"step.py:2: the mistake 'forgets tanh' edits 'np.sinh', which is not"
    ):
        packed("# %% [mistake] forgets tanh\n# - np.sinh\n# + \n")


@pytest.mark.parametrize("step", [STEP.replace("step", "leap"), f"{STEP}\n{STEP}"], ids=["none", "two"])
def test_an_exercise_without_one_cell_that_defines_it_is_refused(step):
    with pytest.raises(SourceError, match=r"step.py:1: one cell defines step, not [02]"):
        packed(step=step)


def test_answers_are_read_as_they_were_packed():
    entries = [packed("# %% [mistake] forgets to clip\n# - clipped(y)\n# + y\n\n# %% [right]\nstep = abs\n")]
    assert unpack(pack(entries)) == entries
    assert b"clipped" not in pack(entries)


def test_an_edit_that_became_stale_is_refused_when_it_is_made():
    with pytest.raises(ValueError, match=r"'old'.*'np\.cosh'"):
        packed().mutated(Mutant("old", "np.cosh", "np.sinh"))


COUNTING = (
    "calls = 0\ndef double(x):\n    global calls\n    calls += 1\n    trace.append(calls)\n    return 2 * x\n"
)
ANSWER = "def step(double, x):\n    x += 1\n    return double(double(x))\n"


def test_the_right_result_is_computed_on_copies_and_leaves_no_trace():
    answer = packed(f"# %% [reference]\n{ANSWER}")
    double = Code(COUNTING, "double", [])
    assert [answer.call(double, 1), answer.call(double, 1)] == [8, 8]
    assert double.trace == []  # else the course's own calls would count as the learner's


@pytest.mark.parametrize("lesson", list(checks.LESSONS))
def test_no_answer_of_the_course_needs_a_statement_that_computes_with_exercises(lesson):
    for answer in answers(lesson).values():
        assert "use(" not in answer.prelude, answer.name
        assert callable(answer.function)
        assert all(callable(answer.mutated(mutant)) for mutant in answer.mutants)
