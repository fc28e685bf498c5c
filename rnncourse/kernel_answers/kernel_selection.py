"""From a kernel's answer to what is launched: text of functions, meanings of names, constants as data.

The judge chooses from the answer's text alone. Where a constant beside a kernel is more than a literal, the
statements that make it run in a worker, as any answer's do, and its value comes back as plain data: a number,
a tuple of these, an array of numbers. Then a fresh process in the same sandbox, which runs no statement of
the submission, builds the functions (launcher.py) and launches them. So whatever happens while the
submission's module runs, the simulator that counts is out of its reach.
"""

import ast
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from nbjudge.exercise import Wrong
from nbjudge.running.inside import wire
from nbjudge.running.learner_answer import LearnerAnswer
from nbjudge.running.sandbox import Sandbox
from nbjudge.running.worker import Worker
from nbjudge.verdict import Status, Stopped
from rnncourse.kernel_answers.kernel_forms import ASSIGNMENTS, IMPORTS, bound_name, called, names_in
from rnncourse.kernel_answers.kernel_source import (
    Names,
    Statement,
    more_than_computing,
    path_of,
    plain_function,
    refuse_no_constant,
    refuse_what_is_no_kernel,
)
from rnncourse.kernel_answers.kernel_vocabulary import OF_THE_CPU

MAKER = "_constants_beside_the_kernel"  # the function that returns their values in the worker


class Function(NamedTuple):
    """A function to build: the name that it gets, and the definition in the answer's text."""

    name: str
    definition: Statement
    kind: str  # "kernel", "device", or "" without cuda.jit

    def defaults(self) -> list[ast.expr]:
        return self.definition.whole.args.defaults


class KernelLaunch(NamedTuple):
    """What a process gets that builds and launches a kernel, in the place of a LearnerAnswer."""

    name: str
    cells: list[tuple[str, str, list[int]]]
    functions: list[list]  # name, label, source, place of the definition, kind, names of the default values
    names: dict[str, str]  # name -> dotted path of what it stands for
    constants: dict[str, object]

    def packed(self) -> bytes:
        """The frame that hands it over."""
        described = {"name": self.name, "functions": self.functions, "names": self.names}
        text = json.dumps(described | {"constants": [*self.constants]}).encode(errors="surrogatepass")
        return wire.pack((np.frombuffer(text, np.uint8), (*self.constants.values(),)), is_launch=True)


def select(answer: LearnerAnswer, seconds: float, box: Sandbox, lines: list[str]) -> KernelLaunch:
    """What is launched for an answer. Raises Stopped for an answer or a constant that a GPU cannot run.

    seconds: limit of the worker that makes constants; what failed there is added to `lines`.
    """
    try:
        return _select(answer, seconds, box, lines)
    except RecursionError:
        message = f"RecursionError: an expression of {answer.name}, or beside it, is nested too deeply."
        raise Stopped(Status.crashed, message) from None


def _select(answer: LearnerAnswer, seconds: float, box: Sandbox, lines: list[str]) -> KernelLaunch:
    statements, names = refuse_what_is_no_kernel(answer)
    functions = [*_functions(statements, names)]
    if any(function.name == answer.name and function.kind != "kernel" for function in functions):
        raise plain_function(answer.name)
    used = {name for function in functions for name in _reads(function)} - {f.name for f in functions}
    values = {name: ast.Name(name, ast.Load()) for name in sorted(used & _assigned(statements, names))}
    described = []
    for function in functions:
        definition = function.definition
        places = []
        for default in function.defaults():
            places.append(f"{function.name} {len(places)}")  # with a blank: the name of no variable
            values[places[-1]] = default
        place = definition.label, definition.source, definition.place
        described.append([function.name, *place, function.kind, places])
    _refuse_changing_defaults(functions, statements)
    allowed = {name: path for name, path in names.items() if path and name in used and _is_word(path)}
    constants = _constants(values, statements, answer.name, seconds, box, lines)
    return KernelLaunch(answer.name, answer.cells, described, allowed, constants)


def _functions(statements: list[Statement], names: Names) -> Iterator[Function]:
    """The last definition of each name: def, with or without cuda.jit, name = cuda.jit(function), or
    name = another of these names."""
    definitions: dict[str, Statement] = {}
    built: dict[str, Function] = {}
    for statement in statements:
        tree = statement.whole
        if isinstance(tree, ast.FunctionDef):
            definitions[tree.name] = statement
            decorator = tree.decorator_list[0] if tree.decorator_list else None
            built[tree.name] = Function(tree.name, statement, _kind(decorator, names))
        elif (compiled := _compiled(tree, names)) is not None:
            name, inner, kind = compiled
            if inner not in definitions:
                raise Stopped(Status.crashed, f"NameError: {inner} is not defined above {name}.")
            built[name] = Function(name, definitions[inner], kind)
        elif isinstance(tree, ast.Assign) and getattr(tree.value, "id", None) in built:
            same = built[tree.value.id]
            built |= {name: same._replace(name=name) for name in _targets(tree)}
        else:
            for name in _targets(tree) & built.keys():
                raise more_than_computing(f"{name} stands for two things ({statement.label})")
    yield from built.values()


def _kind(decorator: ast.expr | None, names: Names) -> str:
    """The kind of a Function, by its decorator."""
    if decorator is None:
        return ""
    if path_of(called(decorator), names) in OF_THE_CPU:
        return "device"
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    is_device = any(
        word.arg == "device" and isinstance(word.value, ast.Constant) and word.value.value is True
        for word in keywords
    )
    return "device" if is_device else "kernel"


def _compiled(tree: ast.stmt, names: Names) -> tuple[str, str, str] | None:
    """(name, function, kind) of `name = cuda.jit(function)` or `name = cuda.jit(…)(function)`, else None."""
    if not (isinstance(tree, ast.Assign) and isinstance(tree.value, ast.Call) and len(tree.targets) == 1):
        return None
    call = tree.value
    target = tree.targets[0]
    made_by = call.func if isinstance(call.func, ast.Call) else call
    is_jit = path_of(made_by.func, names) in ("cuda.jit", *OF_THE_CPU)
    is_jit = is_jit and len(call.args) == 1 and (made_by is call or not call.keywords)
    if not is_jit or not isinstance(call.args[0], ast.Name) or not isinstance(target, ast.Name):
        return None
    return target.id, call.args[0].id, _kind(made_by, names)


def _targets(tree: ast.stmt) -> set[str]:
    """Names that an assignment gives a value, in walrus expressions, too."""
    nodes = ast.walk(tree) if isinstance(tree, ASSIGNMENTS) else ()
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _reads(function: Function) -> set[str]:
    """Names that the function, or one of its default values, may look up."""
    return names_in(function.definition.bare, *function.defaults())


def _assigned(statements: list[Statement], names: Names) -> set[str]:
    """Names that stand for values beside the kernel."""
    plain = [s.bare for s in statements if _compiled(s.bare, names) is None]
    return {name for tree in plain for name in _targets(tree) if names.get(name) is None}


def _is_word(path: str) -> bool:
    """Is it something that a kernel may use: neither the course's `check` nor a compiler?"""
    top = path.partition(".")[0]
    return path == "rnnlab" or (top in ("cuda", "numpy", "math", "numba") and path not in OF_THE_CPU)


def _refuse_changing_defaults(functions: list[Function], statements: list[Statement]) -> None:
    """A default value is read where the function is defined; a name in it may have one value only."""
    times = Counter(name for statement in statements for name in _targets(statement.bare))
    defaults = (default for function in functions for default in function.defaults())
    for name in sorted(names_in(*defaults)):
        if times[name] > 1:
            raise more_than_computing(f"{name}, a default value, stands for two things")


def _constants(
    values: dict[str, ast.expr],
    statements: list[Statement],
    name: str,
    seconds: float,
    box: Sandbox,
    lines: list[str],
) -> dict[str, object]:
    """The values of expressions beside a kernel: read off where they are literals, else made in a worker."""
    literals = _literals(values, statements)
    if literals is not None:
        return literals
    needed, chosen = _makers(values, statements)
    returned = ast.unparse(ast.Tuple([*values.values()], ast.Load()))
    cells = [*_cells(chosen)]
    cells.append(("constants", f"def {MAKER}():\n    return {returned}", [0]))
    answer = LearnerAnswer(
        MAKER, cells, [*sorted(needed), MAKER], [(s.label, s.whole.lineno) for s in chosen]
    )
    try:
        with Worker(answer, seconds, box) as worker:
            lines += worker.left_out
            results = worker()
    except Stopped as stopped:
        stopped.message = stopped.message.replace(MAKER, f"the code of the constants beside {name}")
        raise
    except Wrong as wrong:
        message = f"A constant beside {name} cannot go to a GPU: {wrong.message}"
        raise Stopped(
            Status.failed, message, "numbers, tuples of numbers and arrays of numbers are"
        ) from None
    if type(results) is not tuple or len(results) != len(values):
        raise Stopped(Status.crashed, f"{name} disturbed the process that made its constants.")
    for what, value in zip(values, results, strict=True):
        refuse_no_constant(what, value)
    return dict(zip(values, results, strict=True))


def _cells(statements: list[Statement]) -> Iterator[tuple[str, str, list[int]]]:
    """The statements as cells, in which they begin in their own lines where there is room."""
    for label, group in groupby(statements, lambda statement: statement.label):
        parts = []
        line = 1
        for statement in group:
            parts.append("\n" * (statement.whole.lineno - line) + ast.unparse(statement.bare) + "\n")
            line += parts[-1].count("\n")
        yield label, "".join(parts), [*range(len(parts))]


def _literals(values: dict[str, ast.expr], statements: list[Statement]) -> dict[str, object] | None:
    """The values, if each is a literal or a name that is given one literal; else None."""
    assigned_values: dict[str, list] = {}
    for statement in statements:
        for name in _targets(statement.bare):
            is_plain = isinstance(statement.bare, ast.Assign) and all(
                isinstance(target, ast.Name) for target in statement.bare.targets
            )
            assigned_values.setdefault(name, []).append(statement.bare.value if is_plain else None)
    try:
        literals = {}
        for what, value in values.items():
            if isinstance(value, ast.Name):
                (value,) = assigned_values[value.id]
            literals[what] = ast.literal_eval(value)
            refuse_no_constant(what, literals[what])
        return literals
    except (ValueError, TypeError, KeyError, SyntaxError, MemoryError, RecursionError):
        return None


def _makers(values: dict[str, ast.expr], statements: list[Statement]) -> tuple[set[str], list[Statement]]:
    """(names, statements) that the values need, followed until no new one turns up."""
    binding: dict[str, list[int]] = defaultdict(list)
    for number, statement in enumerate(statements):
        for name in _targets(statement.bare) | _imports(statement.bare):
            binding[name].append(number)
    needed: set[str] = set()
    chosen: set[int] = set()
    waiting = names_in(*values.values())
    while waiting:
        needed.add(name := waiting.pop())
        for number in {*binding[name]} - chosen:
            chosen.add(number)
            waiting |= names_in(statements[number].bare) - needed
    return needed, [statements[number] for number in sorted(chosen)]


def _imports(tree: ast.stmt) -> set[str]:
    return set(map(bound_name, tree.names)) if isinstance(tree, IMPORTS) else set()
