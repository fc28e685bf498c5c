"""What a kernel's source may hold: what Numba compiles for a GPU, and nothing that reaches the simulator.

The counts and findings of a kernel are made in the process that launches it. No statement of the submission
runs there (kernel_selection.py); a kernel's own body does, in each launch. So the body may do nothing but
compute: it is held against a table of the nodes of Python's syntax tree, field by field, and whatever the
table does not name is refused. Names are followed to the module that they come from, so that
`cuda.shared.array` is one thing and `numpy.array` another. What is refused:

    of a module, every name outside short lists; of a value, every attribute but shape, x, y, z and the like
    imports of anything but NumPy, math, Numba and the course's cuda; builtins that no GPU has
    lists, dicts, sets and comprehensions in a kernel, which would be memory that nobody counts
    decorators other than cuda.jit, and numba's jit and njit of a helper
    statements beside a kernel other than imports, functions and constants

Annotations, and what is imported for them alone, are left out before. Whether a GPU would compile the rest
is the simulator's judgement (simulator/strict.py), part of every launch.
"""

import ast
import builtins
import copy
import inspect
import textwrap
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from nbjudge.running.learner_answer import LearnerAnswer
from rnncourse.kernel_answers.kernel_forms import (
    ASSIGNMENTS,
    IMPORTS,
    bound_name,
    called,
    names_in,
    plain_forms,
    stored_names,
    targets_of,
)
from rnncourse.kernel_answers.kernel_verdicts import (
    more_than_computing,
    not_for_a_gpu,
    plain_function,
    refuse_no_constant,
)
from rnncourse.kernel_answers.kernel_vocabulary import (
    FIELDS,
    NO_GPU,
    NO_LIST,
    OF_CUDA,
    OF_MATH,
    OF_MODULES,
    OF_THE_CPU,
    OF_VALUES,
    OPTIONS,
    SIGNS,
    TABLES,
    word_of,
)
from rnncourse.kernel_answers.launcher import BUILTINS, bare

NO_STORE = "a store into {}, which lies outside the kernel and is constant: pass the array to it"
Names = dict[str, str | None]  # what a name beside the kernel stands for: a dotted path, None for a value


class NoKernel(Exception):
    """Something that no kernel holds: a sentence, whether it reaches beyond computing, and the line."""

    def __init__(self, sentence: str, node: ast.AST | None = None, reaches: bool = True):
        super().__init__(sentence)
        self.sentence = sentence
        self.reaches = reaches
        self.line = getattr(node, "lineno", None)


class Statement(NamedTuple):
    """A statement of an answer: bare as it is launched, and whole as it was written."""

    label: str
    source: str
    place: int  # among the statements of its source
    bare: ast.stmt
    whole: ast.stmt


def refuse_what_is_no_kernel(answer: LearnerAnswer) -> tuple[list[Statement], Names]:
    """The answer's statements, and what the names beside the kernel stand for.

    Raises Stopped, naming line and reason, if the answer is something other than a kernel that computes.
    """
    statements = [*_statements(answer)]
    _leave_out_imports(statements, answer.names)
    names: Names = {}
    for statement in statements:  # all of them first: cells may stand in any order
        _refuse(_bind, statement.bare, names, statement.label)
    for statement in statements:
        _refuse(_hold, statement.whole, names, statement.label)
    return statements, names


def _statements(answer: LearnerAnswer) -> Iterator[Statement]:
    for label, source, number, statement in answer.statements():
        for text, place, whole in plain_forms(source, number, statement):
            launched = bare(copy.deepcopy(whole))
            yield Statement(label, text, place, launched, whole)


def refuse_a_function(function: Callable) -> None:
    """The same for a notebook's function that is checked where it stands, if its source is known."""
    kernel = getattr(function, "py_func", None)
    if kernel is None:
        raise plain_function(getattr(function, "__name__", "It"))
    try:
        lines, _ = inspect.getsourcelines(kernel)
        source = "".join(lines)
        statement = ast.parse(textwrap.dedent(source)).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return
    if source[:1].isspace():  # a grade cannot tell which definition a block would leave
        sentence = f"{function.__name__} is defined inside another statement"
        raise more_than_computing(sentence, "begin @cuda.jit and def at the left margin of the cell")
    for value in kernel.__defaults__ or ():
        refuse_no_constant(f"{function.__name__} default", value)
    names: Names = {}
    for name, value in kernel.__globals__.items():
        # what was imported name by name is unknown here, and strict mode judges it
        names[name] = _home(value) if inspect.ismodule(value) else None
    if isinstance(statement, ast.FunctionDef):
        statement.decorator_list = []
        _refuse(_hold, statement, names, "")


def _home(module: object) -> str:
    """The module's name in the tables above."""
    name = getattr(module, "__name__", "")
    return "cuda" if name in ("pocketgpu.cuda", "pocketgpu.simulator", "numba.cuda") else name


def _leave_out_imports(statements: list[Statement], needed: list[str]) -> None:
    """Leave out what is imported for annotations alone, and what the answer does not need."""
    heads = []
    for statement in statements:
        function = statement.whole
        if isinstance(function, ast.FunctionDef):
            heads += [*function.decorator_list, *_defaults(function)]
    used = names_in(*(statement.bare for statement in statements), *heads)
    annotated = names_in(*(statement.whole for statement in statements)) - used

    def is_wanted(alias: ast.alias) -> bool:
        name = bound_name(alias)
        is_needed = name == "*" or needed == ["*"] or name in needed
        return is_needed and name not in annotated

    for statement in statements:
        for tree in (statement.bare, statement.whole):
            if isinstance(tree, IMPORTS):
                tree.names = list(filter(is_wanted, tree.names))


def _defaults(function: ast.FunctionDef) -> list[ast.expr]:
    """The default values of a function's parameters."""
    of_keywords = [default for default in function.args.kw_defaults if default is not None]
    return function.args.defaults + of_keywords


def _refuse(hold: Callable, statement: ast.stmt, names: Names, label: str) -> None:
    try:
        hold(statement, names)
    except NoKernel as problem:
        line = f"line {problem.line or getattr(statement, 'lineno', 0)}"
        place = f"{label}, {line}" if label else line
        sentence = f"{problem.sentence} ({place})"
        if problem.reaches:
            raise more_than_computing(sentence) from None
        raise not_for_a_gpu(sentence, "write the loop over single elements, as one thread of many") from None


def _bind(statement: ast.stmt, names: Names) -> None:
    """Add what a statement binds to `names`. A name for two things would be judged as the wrong one."""
    for name, path in _bindings(statement, names):
        if names.setdefault(name, path) != path:
            raise NoKernel(f"{name} stands for two things", statement)


def _bindings(statement: ast.stmt, names: Names) -> Iterator[tuple[str, str | None]]:
    if isinstance(statement, IMPORTS):
        yield from _imported(statement)
    elif isinstance(statement, ast.FunctionDef):
        yield statement.name, None
    for target in targets_of(statement):
        path = None
        if isinstance(target, ast.Name) and statement.value:
            path = path_of(statement.value, names)  # `shared = cuda.shared` is another name for it
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                yield node.id, path


def _hold(statement: ast.stmt, names: Names) -> None:
    """Raises NoKernel for a statement beside or of a kernel."""
    if isinstance(statement, ast.FunctionDef):
        _hold_function(statement, names)
    elif isinstance(statement, ASSIGNMENTS):
        _hold_constant(statement, names)
    elif not isinstance(statement, IMPORTS) and not _is_text(statement):
        kind = type(statement).__name__
        sentence = f"a statement beside it that is neither import, constant nor function ({kind})"
        raise NoKernel(sentence, statement)


def _is_text(statement: ast.stmt) -> bool:
    """Is it a text that stands by itself, as one above a file does?"""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _imported(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """(name, dotted path of what it stands for) of an import."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            path = alias.name.replace("numba.cuda", "cuda").replace("rnnlab.cuda", "cuda")
            if path not in ("cuda", "rnnlab", *OF_MODULES):
                raise NoKernel(f"import {alias.name}", statement)
            if alias.asname:
                yield alias.asname, path
            else:
                top = alias.name.partition(".")[0]
                yield top, top
        return
    module = statement.module or ""
    for alias in statement.names:
        name = alias.name
        bound = alias.asname or name
        path = f"{module}.{name}"
        is_known = not statement.level and name in OF_MODULES.get(module, ())
        if path in ("rnnlab.cuda", "numba.cuda"):
            yield bound, "cuda"
        elif module == "numba.cuda" and name in OF_CUDA:
            yield bound, f"cuda.{name}"
        elif module == "math" and name == "*":
            for function in OF_MATH:
                yield function, f"math.{function}"
        elif path in OF_THE_CPU or is_known:
            yield bound, path
        elif module == "numpy" and name != "*":
            raise NoKernel(_whole_arrays(name), statement, reaches=False)
        else:
            origin = module or "."
            raise NoKernel(f"import from {origin} of {name}", statement)


def _whole_arrays(name: str) -> str:
    return f"numpy.{name} works on whole arrays, a thread on single elements"


def _hold_function(function: ast.FunctionDef, names: Names) -> None:
    if len(function.decorator_list) > 1:
        raise NoKernel("a second decorator", function, reaches=False)
    for decorator in function.decorator_list:
        _hold_decorator(decorator, names)
    for default in _defaults(function):
        _hold_expressions(default, names, set())
        for node in ast.walk(default):
            if isinstance(node, ast.Call) and path_of(node.func, names) is None:
                raise NoKernel("a default argument that is made by a call", default)
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef) and node is not function:
            sentence = "a function inside a function; write it above, with @cuda.jit(device=True)"
            raise NoKernel(sentence, function)
    own = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    function = bare(copy.deepcopy(function))
    own |= stored_names(function)
    outside = {name: path for name, path in names.items() if name not in own}
    _hold_expressions(function, outside, own)


def _hold_decorator(decorator: ast.expr, names: Names) -> None:
    function = called(decorator)
    if path_of(function, names) not in ("cuda.jit", *OF_THE_CPU):
        word = ast.unparse(function)
        raise NoKernel(f"the decorator {word}: a kernel is made by cuda.jit", decorator, reaches=False)
    if isinstance(decorator, ast.Call):
        _hold_jit(decorator, names)


def _hold_jit(call: ast.Call, names: Names) -> None:
    options = []
    for keyword in call.keywords:
        if keyword.arg not in OPTIONS:
            raise NoKernel(f"cuda.jit({keyword.arg}=…)", call)
        options.append(keyword.value)
    for part in (*call.args, *options):
        _hold_expressions(part, names, set(), lists=True)


def _hold_constant(statement: ast.Assign | ast.AnnAssign | ast.AugAssign, names: Names) -> None:
    """A constant beside a kernel: numbers, tuples, dtypes, tables, and what a few functions make of them."""
    for target in targets_of(statement):
        for node in ast.walk(target):
            if not isinstance(node, ast.Name | ast.Tuple | ast.expr_context):
                raise NoKernel("an assignment to a part of something", statement)
    if statement.value is None:
        return
    makes_table = False
    for node in ast.walk(statement.value):
        if not isinstance(node, ast.Call):
            continue
        path = path_of(node.func, names) or ""
        if _is_table(path):
            makes_table = True
        elif path == "cuda.jit":
            _hold_jit(node, names)
        elif path.startswith("cuda"):
            raise NoKernel("a call of cuda outside the kernel", statement)
    _hold_expressions(statement.value, names, set(), lists=makes_table, tables=True)


def _is_table(path: str) -> bool:
    """Is it one of NumPy's functions that make a table of constants?"""
    module, _, name = path.partition(".")
    return module == "numpy" and name in TABLES


def _hold_expressions(
    tree: ast.AST, names: Names, own: set[str], lists: bool = False, tables: bool = False
) -> None:
    """Raises NoKernel for the first node that may not stand in a kernel."""
    known = own | names.keys()
    for node in _nodes(tree, lists):
        if isinstance(node, ast.Name) and _is_refused_name(node.id, known):
            raise NoKernel(node.id, node)
        if isinstance(node, ast.Attribute):
            _hold_attribute(node, names, tables)
        if isinstance(node, ast.Call):
            _hold_call(node, names, own)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            array = node.value
            if isinstance(array, ast.Name) and array.id not in own:
                raise NoKernel(NO_STORE.format(array.id), node, reaches=False)


def _nodes(tree: ast.AST, lists: bool) -> Iterator[ast.AST]:
    """Every node, the outer ones first. Raises NoKernel for a node, or a field of one, that FIELDS lacks."""
    waiting = deque([tree])
    while waiting:
        node = waiting.popleft()
        kind = type(node)
        is_allowed_list = lists and kind is ast.List
        if kind in NO_GPU and not is_allowed_list:
            raise NoKernel(NO_LIST.format(what=f"{NO_GPU[kind]}s"), node, reaches=False)
        if kind not in FIELDS and not isinstance(node, SIGNS):
            raise NoKernel(f"{word_of(kind)} cannot stand in it", node)
        yield node
        for field in node._fields:
            part = getattr(node, field, None)
            if part not in (None, []) and field not in FIELDS.get(kind, ()):
                raise NoKernel(f"{word_of(kind)} with {field} cannot stand in it", node)
            parts = part if isinstance(part, list) else [part]
            waiting += [child for child in parts if isinstance(child, ast.AST)]


def _hold_attribute(node: ast.Attribute, names: Names, tables: bool) -> None:
    if not isinstance(node.ctx, ast.Load):
        raise NoKernel(f"it sets .{node.attr}", node)
    path = path_of(node, names)
    if path is None:
        if node.attr not in OF_VALUES:
            raise NoKernel(f".{node.attr}", node)
        return
    module, _, name = path.rpartition(".")
    if module == "numpy" and tables and name in TABLES:
        return
    known = OF_MODULES.get(module, OF_VALUES)
    if module.partition(".")[0] == "cuda":
        known = OF_CUDA
    if path in ("numba.types", "cuda") or name in known:
        return
    if module == "numpy" and name[:1] != "_":
        raise NoKernel(_whole_arrays(name), node, reaches=False)
    raise NoKernel(f".{name}", node)


def _hold_call(call: ast.Call, names: Names, own: set[str]) -> None:
    path = path_of(call.func, names) or ""
    if path == "cuda.const.array_like" and not _is_given_constant(call, own):
        sentence = (
            "cuda.const.array_like takes an array from outside the kernel; read an argument where it lies"
        )
        raise NoKernel(sentence, call, reaches=False)
    if path == "numpy.ndarray":  # a second view of memory
        raise NoKernel(_whole_arrays("ndarray"), call, reaches=False)
    if path.startswith("numpy."):
        name = path.removeprefix("numpy.")
        function = getattr(np, name, None)
        inputs = getattr(function, "nin", None)
        if inputs is not None and (call.keywords or len(call.args) > inputs):
            raise NoKernel(_whole_arrays(name), call, reaches=False)
    if isinstance(call.func, ast.Name) and call.func.id == "print" and call.keywords:
        raise NoKernel("print with options", call, reaches=False)


def _is_given_constant(call: ast.Call, own: set[str]) -> bool:
    """Is the one argument of a call the name of something outside the kernel?"""
    if len(call.args) != 1 or call.keywords:
        return False
    (array,) = call.args
    return isinstance(array, ast.Name) and array.id not in own


def path_of(node: ast.expr, names: Names) -> str | None:
    """ "cuda.shared.array" for what a chain of names stands for; None for a value."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if not isinstance(node, ast.Attribute):
        return None
    owner = path_of(node.value, names)
    if owner is None:
        return None
    path = f"{owner}.{node.attr}"
    return "cuda" if path in ("numba.cuda", "rnnlab.cuda") else path


def _is_refused_name(name: str, known: set[str]) -> bool:
    if name.startswith("__"):
        return True
    return name not in known and hasattr(builtins, name) and name not in BUILTINS
