"""A cell is read as IPython reads it: prompts go where IPython removes them, and nowhere else."""

import ast

import pytest

from nbjudge.finding.magics import blanked, tidied

CELLS = {
    "below a comment": "# from my terminal\n\n>>> def f(y):\n...     return y[-1]",
    "all lines indented": "    >>> def f(y):\n    ...     return y[-1]\n    >>> x = 1",
    "prompts alone indented": "x = 1\n  >>> def f(y):\n  ...     return y[-1]",
    "below an import": "import math\n>>> def f(y):\n...     return math.pi",
    "three empty lines above": "\n\n\n>>> def f(y):\n...     return y[-1]",
    "without a blank": ">>>def f(y):\n...    return y[-1]",
    "with a tab": ">>>\tdef f(y):\n...\t    return y[-1]",
    "an ellipsis without prompts": "def f(y):\n    ...\n    return y[..., -1]",
    "in a docstring": 'def f(y):\n    """An example.\n\n    >>> f([1])\n    1\n    """\n    return y[-1]',
    "in a docstring, and before it": (
        '>>> def f(y):\n...     """Last.\n...     >>> f([1])\n...     """\n...     return y[-1]'
    ),
    "in a text that is assigned": 'x = """\n>>> 1\n"""\ny = 2',
    "numbered": "In [3]: def f(y):\n   ...:     return y[-1]\n",
    "numbered, as vi writes it": "[ins] In [3]: def f(y):\n         ...:     return y[-1]\n",
    "no common indentation": "  x = 1\n  y = 2\n\n  if x:\n      y = 3",
}


@pytest.mark.parametrize("name", CELLS)
def test_prompts_and_indentation_are_removed_as_ipython_removes_them(name):
    transformers = pytest.importorskip("IPython.core.inputtransformer2")
    lines = CELLS[name].splitlines(keepends=True)
    for transform in transformers.TransformerManager().cleanup_transforms:
        lines = transform(lines)
    assert ast.dump(ast.parse(tidied(CELLS[name]))) == ast.dump(ast.parse("".join(lines)))


def test_every_line_keeps_its_number():
    text = "# from my terminal\n\n  >>> def f(y):\n  ...     return y[-1]\n"
    (function,) = ast.parse(tidied(text)).body
    assert function.body[0].lineno == 4


@pytest.mark.parametrize("line", ["x = %time 1 + 1", "x = %time --no-raise-error 1 + 1", "x = %time"])
def test_what_a_timed_line_assigns_is_python(line):
    (assignment,) = ast.parse(blanked(line)).body
    assert ast.unparse(assignment) == ("x = None" if line == "x = %time" else "x = 1 + 1")
