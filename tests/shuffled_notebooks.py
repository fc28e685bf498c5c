"""Notebooks made from kept answers by splitting, reordering and redefining cells: what learners hand in.

Each has answers to three exercises, right and wrong ones. Constants and the work
of an answer move into names that all three share; attempts stand above, other meanings of the names below.
Half of the notebooks have cells that stop with an error.
"""

import ast
import random
from functools import cache

from answer_cells import answer_cells

from nbjudge.authoring.percent import SourceCell
from rnncourse import checks
from rnncourse.checks.answers import answers

EXERCISES = (  # quick ones, which are given nothing but NumPy
    *("last_step", "count_rnn_flops", "rnn_step", "relu_step_backward", "clip_by_global_norm"),
    *("cross_entropy_gradient", "arithmetic_intensity", "amdahl_limit", "split_minibatch", "compose_affine"),
    *("skip_step_backward", "segment_lengths", "register_budget", "index_of_sums", "median_interval"),
)
START = "import numpy as np\nfrom math import comb\nfrom rnnlab import check, hint, progress, use"
NAMES = "work", "K", "scale"  # mean something else for each answer
ENDS = ("work = None", "K = 'the end'", "def work(*parts):\n    return parts", "scale = 0\nK = scale", "")

ERRORS = (
    *("1 / 0", "raise ValueError('not yet')", "assert K == []", "missing_name", "np.zeros(3)[\n    5\n]"),
    *("K = missing_name", "scale = [][0]", "work = work.missing", "for K in (0, None):\n    K + 1"),
)


@cache
def pool() -> dict[str, list[SourceCell]]:
    """{exercise: kept answers, and the course's own}."""
    answers_by_name = {
        name: cells for lesson in checks.LESSONS for name, cells in answer_cells(lesson).items()
    }
    own = {name: SourceCell("right", answers(checks.find(name)[0])[name].source) for name in EXERCISES}
    return {name: [*answers_by_name.get(name, []), own[name]] for name in EXERCISES}


def notebook(seed: int) -> tuple[list[str], list[str]]:
    """(exercises, cells) of one notebook."""
    draw = random.Random(seed)
    names = draw.sample(EXERCISES, 3)
    blocks = [_block(draw, name) for name in names]
    if draw.random() < 0.3:  # the answers first, then all checks
        together = [cell for block in blocks for cell in block if not cell.startswith("check(")]
        blocks = [together, [f"check({name})" for name in names]]
    cells = [START, *(cell for block in blocks for cell in block)]
    for _ in range(draw.randint(0, 2)):  # a cell that gives a shared name another meaning, anywhere
        cells.insert(draw.randint(1, len(cells)), draw.choice(ENDS))
    if draw.random() < 0.3:
        at = draw.randint(2, len(cells) - 1)
        cells[at - 1 : at + 1] = [cells[at], cells[at - 1]]
    for _ in range(draw.choice((0, 0, 1, 2))):
        at = draw.randint(1, len(cells) - 1)
        cells[at] = _with_an_error(draw, cells[at])
    return names, [cell for cell in cells if cell]


def _with_an_error(draw: random.Random, cell: str) -> str:
    """The cell, which stops with an error above, between or below its statements."""
    statements = [ast.unparse(statement) for statement in ast.parse(cell).body]
    statements.insert(draw.randint(0, len(statements)), draw.choice(ERRORS))
    return "\n".join(statements)


def _block(draw: random.Random, name: str) -> list[str]:
    """The cells of one answer, and its check behind them."""
    cells = _split(draw, _disguised(draw, name, _answer(draw, name)))
    attempt = _split(draw, _answer(draw, name))
    check = f"check({name})"
    before = draw.choice(
        ([], [f"def {name}(*arguments):\n    raise NotImplementedError"], attempt, [*attempt, check])
    )
    behind = draw.choice(([], [], [draw.choice(ENDS)], [f"check({name}, practice=True)"], attempt[:-1]))
    return [*before, *cells, check, *behind]


def _answer(draw: random.Random, name: str) -> ast.Module:
    choices = pool()[name]
    right = [cell for cell in choices if cell.kind == "right"]
    return ast.parse(draw.choice(right if draw.random() < 0.6 else choices).text)


def _split(draw: random.Random, tree: ast.Module) -> list[str]:
    """The statements as cells, each by itself or with the one before."""
    cells: list[str] = []
    for statement in tree.body:
        text = ast.unparse(statement)
        if cells and draw.random() < 0.4:
            cells[-1] += f"\n{text}"
        else:
            cells.append(text)
    return cells


def _disguised(draw: random.Random, name: str, tree: ast.Module) -> ast.Module:
    """The answer, whose constants or work have one of the names that all answers share."""
    for change in draw.sample((_name_a_constant, _hand_on, _keep_in_an_object), draw.randint(0, 2)):
        tree = ast.fix_missing_locations(change(draw, name, tree))
    return tree


def _name_a_constant(draw: random.Random, name: str, tree: ast.Module) -> ast.Module:
    """One number of the function becomes the name K or scale."""
    function = _definition(tree, name)
    places = (
        [
            (node, field)
            for node in ast.walk(ast.Module(function.body, []))
            if function
            for field in ("left", "right", "value", "operand")
            if isinstance(part := getattr(node, field, None), ast.Constant)
            and type(part.value) in (int, float)
        ]
        if function
        else []
    )
    if places:
        node, field = draw.choice(places)
        own = draw.choice(NAMES[1:])
        tree.body.insert(
            draw.choice((0, len(tree.body))), ast.parse(f"{own} = {getattr(node, field).value!r}").body[0]
        )
        setattr(node, field, ast.Name(own, ast.Load()))
    return tree


def _hand_on(draw: random.Random, name: str, tree: ast.Module) -> ast.Module:
    """The function is called work, and the answer calls it, or is it."""
    if (function := _definition(tree, name)) and not _calls_itself(function):
        function.name = "work"
        ways = (
            f"def {name}(*arguments):\n    return work(*arguments)",
            f"{name} = work",
            f"{name} = lambda *a: work(*a)",
        )
        tree.body += ast.parse(draw.choice(ways)).body
    return tree


def _keep_in_an_object(draw: random.Random, name: str, tree: ast.Module) -> ast.Module:
    """The function stands in a list or a dict, which a call fills."""
    if (function := _definition(tree, name)) and not _calls_itself(function):
        function.name = "work"
        ways = (
            f"scale = []\nscale.append(work)\ndef {name}(*arguments):\n    return scale[0](*arguments)",
            f"K = dict(f=None)\nK['f'] = work\n{name} = K['f']",
        )
        tree.body += ast.parse(draw.choice(ways)).body
    return tree


def _definition(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    functions = (part for part in tree.body if isinstance(part, ast.FunctionDef) and not part.decorator_list)
    return next((function for function in functions if function.name == name), None)


def _calls_itself(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Name) and node.id == function.name for node in ast.walk(function))
