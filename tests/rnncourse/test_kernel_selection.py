"""A kernel is launched from its text: nothing that stands beside it runs in the process that counts."""

import ast
from contextlib import suppress

import numpy as np
import pytest

from nbjudge.finding.notebook import Notebook
from nbjudge.finding.reading import parse
from nbjudge.grading import learner
from nbjudge.grading.grade import grade_one
from nbjudge.running.inside import wire
from nbjudge.running.learner_answer import of_source
from nbjudge.running.sandbox import choose
from nbjudge.verdict import Status, Stopped
from pocketgpu import cuda
from rnncourse import checks
from rnncourse.kernel_answers import kernel_source, launcher
from rnncourse.kernel_answers.kernel_selection import select

PLAIN = choose(plain=True)
SAXPY = checks.find("saxpy_kernel")[1]
HEAD = "import math\nimport numpy as np\nfrom rnnlab import cuda\n"
RIGHT = "    i = cuda.grid(1)\n    if i < x.size:\n        y[i] = a * x[i] + y[i]\n"
SIGNED = "@cuda.jit\ndef saxpy_kernel(a, x, y):\n"
WHOLE = '''
@cuda.jit(device=True)
def scaled(a, /, b, *rest):
    return a * b


@cuda.jit
def saxpy_kernel(a: float, x, y, zero=0) -> None:
    """y becomes a·x + y."""
    i: int = cuda.grid(1)
    total, n = np.float32(zero), x.shape[0]
    own = cuda.local.array(shape=2, dtype=np.float32)
    y[0]: float = y[0]
    assert cuda.blockDim.x <= 1024, "small blocks"
    while (k := n) < 0:
        if k == 3:
            break
        continue
    else:
        pass
    for k in range(0, 2):
        total += a if k == 1 and not i < 0 else np.float32(0)
    match k:
        case 0 | -1:
            total += zero
        case None:
            total = total
        case _:
            pass
    cuda.syncthreads()
    own[0] = a > 1 or a < 2
    if x[0:1:1].size > 9:
        raise ValueError(u"too long") from None
    if i < n:
        y[i] = scaled(total, x[i]) + -y[i] + y[i] + y[i]
    return
'''  # holds every node that kernel_source.FIELDS names, but for a list
EFFECT = "exec"


def selected(source):
    return select(of_source("saxpy_kernel", HEAD + source), 10, PLAIN, [])


def sent(launch):
    """(text, constants) as the launching process gets them."""
    (text, constants), header = wire.unpack(launch.packed())
    assert header["is_launch"]
    return text.tobytes(), constants


def nodes_of(tree):
    return [node for node in ast.walk(tree) if type(node) in (*kernel_source.FIELDS, ast.AnnAssign)]


def with_effect(number, field):
    """The source of WHOLE with an expression of a side effect in a field of a node; None if it takes none."""
    tree = ast.parse(WHOLE)
    node = nodes_of(tree)[number]
    old = getattr(node, field, None)
    effect = ast.Call(ast.Name(EFFECT, ast.Load()), [ast.Constant("1")], [])
    holder = ast.Expr(effect)
    if isinstance(old, list):
        kind = type(old[0]) if old else ast.expr
        new = [holder, *old] if issubclass(kind, ast.stmt) else [*old, effect]
    elif old is None or isinstance(old, ast.expr):
        new = effect
    else:
        return None  # a name, an operator, a context
    setattr(node, field, new)
    try:
        source = ast.unparse(ast.fix_missing_locations(tree))
        ast.parse(source)
    except (SyntaxError, AttributeError, TypeError, ValueError, IndexError, KeyError):
        return None  # no text has this tree
    return source if EFFECT in source else None


def test_code_in_any_field_of_any_node_is_refused_or_left_out(monkeypatch):
    nodes = nodes_of(ast.parse(WHOLE))
    places = [(number, field) for number, node in enumerate(nodes) for field in node._fields]
    sources = {place: text for place in places if (text := with_effect(*place))}
    assert len(sources) >= 120
    assert len({(type(nodes[number]), field) for number, field in sources}) >= 44
    ran, reached = [], []
    for place, source in sources.items():
        with monkeypatch.context() as changed, suppress(Stopped):
            changed.setattr("builtins.exec", ran.append)
            kernel = launcher.build(*sent(selected(source)), cuda).py_func
            names = {*kernel.__code__.co_names, *kernel.__globals__["scaled"].__code__.co_names}
            reached += [place] * (EFFECT in names)
    assert (ran, reached) == ([], [])


def test_the_whole_kernel_holds_every_node_that_a_kernel_may_hold():
    kinds = {type(node) for node in ast.walk(ast.parse(WHOLE))}
    assert kernel_source.FIELDS.keys() - kinds == {ast.List}


def test_a_node_or_a_field_that_the_table_lacks_is_refused(monkeypatch):
    for kind, fields in {**kernel_source.FIELDS}.items():
        for left_out in fields:
            fewer = kernel_source.FIELDS | {kind: tuple(field for field in fields if field != left_out)}
            used = [n for n in ast.walk(ast.parse(WHOLE)) if type(n) is kind and getattr(n, left_out, None)]
            with monkeypatch.context() as changed:
                changed.setattr(kernel_source, "FIELDS", fewer)
                if used and kind is not ast.FunctionDef:
                    with pytest.raises(Stopped):
                        selected(WHOLE)
    assert selected(WHOLE).names.keys() == {"cuda", "np"}


def test_what_is_launched_has_no_annotation_decorator_or_default_of_its_own():
    text, constants = sent(selected(WHOLE))
    kernel = launcher.build(text, constants, cuda)
    function = kernel.py_func
    assert function.__annotations__ == {}
    assert function.__defaults__ == (0,)
    assert set(function.__builtins__) == launcher.BUILTINS


CONSTANTS = {  # beside the kernel: the name and the value that crosses
    "a literal": ("N = 3\n", 3),
    "a sum of others": ("M = 2\nN = M + 1\n", 3),
    "a NumPy number": ("N = np.float32(3)\n", np.float32(3)),
    "a tuple": ("N = (1, 2.5, np.int32(4))\n", (1, 2.5, np.int32(4))),
    "the last of two": ("N = 3\nN = 4\n", 4),
    "a number that grows": ("N = 3\nN += 1\n", 4),
    "an array": ("N = np.arange(3)\n", np.arange(3)),
    "an annotated number": ("from typing import Final\nN: Final = 3\n", 3),
}


@pytest.mark.parametrize("style", CONSTANTS)
def test_a_constant_crosses_with_its_type(style):
    source, value = CONSTANTS[style]
    got = selected(f"{source}@cuda.jit\ndef saxpy_kernel(a, x, y):\n    y[0] = N\n").constants["N"]
    assert type(got) is type(value)
    np.testing.assert_array_equal(got, value)
    assert getattr(got, "dtype", None) == getattr(value, "dtype", None)


def test_an_array_beside_a_kernel_can_only_be_read_where_it_is_launched():
    launch = selected("T = np.ones(3)\n@cuda.jit\ndef saxpy_kernel(a, x, y):\n    y[0] = T[0]\n")
    kernel = launcher.build(*sent(launch), cuda)
    assert not kernel.py_func.__globals__["T"].flags.writeable


NO_CONSTANTS = {
    "an array as default": "T = np.zeros(3)\n@cuda.jit\ndef saxpy_kernel(a, x, y, t=T):\n    pass\n",
    "a default whose name changes": "T = 1\n@cuda.jit\ndef saxpy_kernel(a, x, y, t=T):\n    pass\nT = 2\n",
    "an array of text": "T = np.array('a')\n@cuda.jit\ndef saxpy_kernel(a, x, y):\n    y[0] = T[0]\n",
    "a second view": "T = np.ndarray((3,))\n@cuda.jit\ndef saxpy_kernel(a, x, y):\n    y[0] = T[0]\n",
    "two megabytes": "T = np.zeros(1 << 18)\n@cuda.jit\ndef saxpy_kernel(a, x, y):\n    y[0] = T[0]\n",
    "a kernel's second meaning": "@cuda.jit\ndef saxpy_kernel(a, x, y):\n    pass\nsaxpy_kernel = 3\n",
}


@pytest.mark.parametrize(
    "source",
    [
        "own = lambda a, b=exec('1'): a\n",
        "own = lambda a: exec('1')\n",
        "own = cuda.jit(exec('1'), device=True)(lambda a: a)\n",
        "own = exec('1')(lambda a: a)\n",
        "try:\n    import math\n    exec('1')\nexcept ImportError:\n    pass\n",
        "try:\n    import math\nexcept ImportError:\n    from os import system as print\n    print('1')\n",
        "try:\n    from numba import cuda\nexcept ImportError:\n    import os as cuda\n",
    ],
)
def test_no_code_of_a_lambda_or_a_try_reaches_the_launch(source, monkeypatch):
    ran = []
    monkeypatch.setattr("builtins.exec", ran.append)
    used = RIGHT.replace("a * x[i]", "own(a) * x[i]") if "own" in source else RIGHT
    with pytest.raises(Stopped):
        selected(f"{source}{SIGNED}{used}")
    assert ran == []


@pytest.mark.parametrize("style", NO_CONSTANTS)
def test_what_is_no_constant_is_refused(style):
    with pytest.raises(Stopped) as refusal:
        selected(NO_CONSTANTS[style])
    assert refusal.value.status in (Status.failed, Status.forbidden, Status.too_big)


def notebook_of(source):
    return Notebook(parse(number, text) for number, text in enumerate((HEAD, source), 1))


@pytest.mark.parametrize(
    "end", ["own = cuda.jit(own)\nbest = saxpy_kernel = own\n", "saxpy_kernel = cuda.jit()(own)\n"]
)
def test_a_kernel_of_another_name_passes_with_the_grader(end):
    verdict = grade_one(SAXPY, notebook_of(f"def own(a, x, y):\n{RIGHT}{end}"), 1, PLAIN)
    assert verdict.passed, str(verdict)


def checked(source, folder):
    """The verdict of `check` on a cell in its own file, as a notebook's kernel has it."""
    (folder / "cell.py").write_text(source)
    namespace = {"__name__": "cell"} | dict.fromkeys(("Number", "Array"), float)
    exec(compile(HEAD, "head", "exec"), namespace)
    exec(compile(source, str(folder / "cell.py"), "exec"), namespace)
    return learner.check(namespace["saxpy_kernel"])


WALRUS = """@cuda.jit
def saxpy_kernel(a, x, y):
    if (i := cuda.grid(1)) < x.size:
        y[i] = a * x[i] + y[i]
"""


def test_a_name_within_an_expression_passes_or_the_verdicts_say_that_numba_finds_no_type_for_it(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))
    graded, own = grade_one(SAXPY, notebook_of(WALRUS), 1, PLAIN), checked(WALRUS, tmp_path)
    assert graded.status == own.status
    assert graded.passed or ":=" in graded.message
    assert own.passed or ":=" in own.message


INDENTED = "    @cuda.jit\n    def saxpy_kernel(a, x, y):\n" + RIGHT.replace("    i", "        i").replace(
    "        y", "            y"
)


@pytest.mark.parametrize(
    "source",
    [f"if True:\n{INDENTED}", f"def made():\n{INDENTED}    return saxpy_kernel\nsaxpy_kernel = made()\n"],
    ids=["if", "function"],
)
def test_a_kernel_inside_a_statement_is_refused_in_the_notebook_too(source, monkeypatch, tmp_path):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))
    assert grade_one(SAXPY, notebook_of(source), 1, PLAIN).status is Status.forbidden
    assert checked(source, tmp_path).status is Status.forbidden


@pytest.mark.parametrize("head", ["", "@cuda.jit(device=True)\n", "from numba import njit\n@njit\n"])
def test_an_answer_that_no_launch_can_begin_with_is_refused(head):
    with pytest.raises(Stopped) as refusal:
        selected(f"{head}def saxpy_kernel(a, x, y):\n{RIGHT}")
    assert refusal.value.status is Status.failed


@pytest.mark.slow
def test_ten_thousand_constants_are_followed_once():
    chain = "\n".join(["N0 = 1", *(f"N{n} = N{n - 1} + 0" for n in range(1, 10_000))])
    launch = selected(f"{chain}\n@cuda.jit\ndef saxpy_kernel(a, x, y):\n    y[0] = N9999\n")
    assert launch.constants == {"N9999": 1}


@pytest.mark.parametrize("place", ["beside", "inside"])
def test_an_expression_that_is_nested_too_deeply_is_the_answers_fault(place):
    deep = "1" + " + 1" * 700
    beside, inside = (f"N = {deep}\n", "N") if place == "beside" else ("", deep)
    with pytest.raises(Stopped) as refusal:
        selected(f"{beside}@cuda.jit\ndef saxpy_kernel(a, x, y):\n    y[0] = {inside}\n")
    assert refusal.value.status is Status.crashed
