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
from rnncourse.kernel_answers.kernel_forms import (
    ASSIGNMENTS,
    IMPORTS,
    bound_name,
    called,
    names_in,
    stored_names,
)
from rnncourse.kernel_answers.kernel_source import Names, Statement, path_of, refuse_what_is_no_kernel
from rnncourse.kernel_answers.kernel_verdicts import more_than_computing, plain_function, refuse_no_constant
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
        described = {
            "name": self.name,
            "functions": self.functions,
            "names": self.names,
            "constants": [*self.constants],
        }
        text = json.dumps(described).encode(errors="surrogatepass")
        values = tuple(self.constants.values())
        return wire.pack((np.frombuffer(text, np.uint8), values), is_launch=True)


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
    functions = list(_functions(statements, names))
    for function in functions:
        if function.name == answer.name and function.kind != "kernel":
            raise plain_function(answer.name)
    used = set()
    for function in functions:
        used |= _reads(function)
    used -= {function.name for function in functions}
    own_values = used & _assigned(statements, names)
    values = {name: ast.Name(name, ast.Load()) for name in sorted(own_values)}
    described = []
    for function in functions:
        places = []
        for number, default in enumerate(function.defaults()):
            place = f"{function.name} {number}"  # with a blank: the name of no variable
            places.append(place)
            values[place] = default
        label, source, place_in_source, *_ = function.definition
        described.append([function.name, label, source, place_in_source, function.kind, places])
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
        compiled = _compiled(tree, names)
        if isinstance(tree, ast.FunctionDef):
            definitions[tree.name] = statement
            decorator = tree.decorator_list[0] if tree.decorator_list else None
            built[tree.name] = Function(tree.name, statement, _kind(decorator, names))
        elif compiled is not None:
            name, inner, kind = compiled
            if inner not in definitions:
                raise Stopped(Status.crashed, f"NameError: {inner} is not defined above {name}.")
            built[name] = Function(name, definitions[inner], kind)
        elif isinstance(tree, ast.Assign) and getattr(tree.value, "id", None) in built:
            same = built[tree.value.id]
            for name in _targets(tree):
                built[name] = same._replace(name=name)
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
    if isinstance(decorator, ast.Call):
        for keyword in decorator.keywords:
            value = keyword.value
            if keyword.arg == "device" and isinstance(value, ast.Constant) and value.value is True:
                return "device"
    return "kernel"


def _compiled(tree: ast.stmt, names: Names) -> tuple[str, str, str] | None:
    """(name, function, kind) of `name = cuda.jit(function)` or `name = cuda.jit(…)(function)`, else None."""
    if not isinstance(tree, ast.Assign) or not isinstance(tree.value, ast.Call):
        return None
    call = tree.value
    if len(tree.targets) != 1 or len(call.args) != 1:
        return None
    (target,) = tree.targets
    (function,) = call.args
    if not isinstance(target, ast.Name) or not isinstance(function, ast.Name):
        return None
    jit = call
    if isinstance(call.func, ast.Call):
        jit = call.func
        if call.keywords:
            return None
    if path_of(jit.func, names) not in ("cuda.jit", *OF_THE_CPU):
        return None
    return target.id, function.id, _kind(jit, names)


def _targets(tree: ast.stmt) -> set[str]:
    """Names that an assignment gives a value, in walrus expressions, too."""
    return stored_names(tree) if isinstance(tree, ASSIGNMENTS) else set()


def _reads(function: Function) -> set[str]:
    """Names that the function, or one of its default values, may look up."""
    return names_in(function.definition.bare, *function.defaults())


def _assigned(statements: list[Statement], names: Names) -> set[str]:
    """Names that stand for values beside the kernel."""
    assigned = set()
    for statement in statements:
        if _compiled(statement.bare, names) is None:
            assigned |= _targets(statement.bare)
    return {name for name in assigned if names.get(name) is None}


def _is_word(path: str) -> bool:
    """Is it something that a kernel may use: neither the course's `check` nor a compiler?"""
    if path == "rnnlab":
        return True
    top = path.partition(".")[0]
    return top in ("cuda", "numpy", "math", "numba") and path not in OF_THE_CPU


def _refuse_changing_defaults(functions: list[Function], statements: list[Statement]) -> None:
    """A default value is read where the function is defined; a name in it may have one value only."""
    times: Counter[str] = Counter()
    for statement in statements:
        times.update(_targets(statement.bare))
    used = set()
    for function in functions:
        used |= names_in(*function.defaults())
    for name in sorted(used):
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
    answer = _maker(values, statements)
    try:
        with Worker(answer, seconds, box) as worker:
            lines += worker.left_out
            results = worker()
    except Stopped as stopped:
        stopped.message = stopped.message.replace(MAKER, f"the code of the constants beside {name}")
        raise
    except Wrong as wrong:
        message = f"A constant beside {name} cannot go to a GPU: {wrong.message}"
        next_step = "numbers, tuples of numbers and arrays of numbers are"
        raise Stopped(Status.failed, message, next_step) from None
    if type(results) is not tuple or len(results) != len(values):
        raise Stopped(Status.crashed, f"{name} disturbed the process that made its constants.")
    constants = dict(zip(values, results, strict=True))
    for what, value in constants.items():
        refuse_no_constant(what, value)
    return constants


def _maker(values: dict[str, ast.expr], statements: list[Statement]) -> LearnerAnswer:
    """The answer MAKER, which returns the values, with the statements that it needs."""
    needed, chosen = _needed_statements(values, statements)
    returned = ast.unparse(ast.Tuple([*values.values()], ast.Load()))
    cells = list(_cells(chosen))
    cells.append(("constants", f"def {MAKER}():\n    return {returned}", [0]))
    places = [(statement.label, statement.whole.lineno) for statement in chosen]
    return LearnerAnswer(MAKER, cells, [*sorted(needed), MAKER], places)


def _cells(statements: list[Statement]) -> Iterator[tuple[str, str, list[int]]]:
    """The statements as cells, in which they begin in their own lines where there is room."""
    for label, group in groupby(statements, lambda statement: statement.label):
        text = ""
        numbers = []
        for number, statement in enumerate(group):
            line = text.count("\n") + 1
            text += "\n" * (statement.whole.lineno - line)
            text += ast.unparse(statement.bare) + "\n"
            numbers.append(number)
        yield label, text, numbers


def _literals(values: dict[str, ast.expr], statements: list[Statement]) -> dict[str, object] | None:
    """The values, if each is a literal or a name that is given one literal; else None."""
    assigned_values: dict[str, list] = defaultdict(list)
    for statement in statements:
        tree = statement.bare
        value = tree.value if _has_plain_targets(tree) else None
        for name in _targets(tree):
            assigned_values[name].append(value)
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


def _has_plain_targets(tree: ast.stmt) -> bool:
    """Is it `name = value`, perhaps with several names?"""
    if not isinstance(tree, ast.Assign):
        return False
    return all(isinstance(target, ast.Name) for target in tree.targets)


def _needed_statements(
    values: dict[str, ast.expr], statements: list[Statement]
) -> tuple[set[str], list[Statement]]:
    """(names, statements) that the values need, followed until no new one turns up."""
    binding: dict[str, list[int]] = defaultdict(list)
    for number, statement in enumerate(statements):
        for name in _targets(statement.bare) | _imports(statement.bare):
            binding[name].append(number)
    needed: set[str] = set()
    chosen: set[int] = set()
    waiting = names_in(*values.values())
    while waiting:
        name = waiting.pop()
        needed.add(name)
        for number in binding[name]:
            if number not in chosen:
                chosen.add(number)
                waiting |= names_in(statements[number].bare) - needed
    return needed, [statements[number] for number in sorted(chosen)]


def _imports(tree: ast.stmt) -> set[str]:
    return set(map(bound_name, tree.names)) if isinstance(tree, IMPORTS) else set()
