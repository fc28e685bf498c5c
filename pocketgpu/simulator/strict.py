"""Would a GPU compile this kernel, and does it compute in the precision it stores?

Python runs every statement; a GPU runs what a compiler could give a type.  Two kinds of finding:

    does_not_compile  Numba's CUDA target finds no type for something
    float64           a number that is float64 by accident drags arithmetic on float32 data along with it:
                      a literal, a start value, a Python float as argument, an integer combined with a float32

No GPU is needed, and none of NVIDIA's compilers.

A kernel's float64 is followed back from each operation through names and loops.  What is read from a float64
array, or made with np.float64(…), is meant.  What NVVM computes in float32 all the same is left alone: one
operation between a float32 and a number that float32 holds exactly, compared or stored at once.
"""

import ast
import numbers
import re
from collections.abc import Callable, Iterator

import numpy as np
from numba.core import types
from numba.core.errors import NumbaError

from pocketgpu.compiling.target import UnsupportedBytecodeError, UnsupportedError, ir
from pocketgpu.compiling.typing import TypedKernel, type_of, typed
from pocketgpu.simulator.device_arrays import check_argument
from pocketgpu.simulator.language import TABLES, refused
from pocketgpu.simulator.source import definition_of
from pocketgpu.simulator.threads import Finding, Findings

REMEDIES = TABLES["errors"]
# the last is how Numba says that a call has too many arguments or that it lacks a cache hint
REFUSALS = (NumbaError, UnsupportedBytecodeError, UnsupportedError, TypeError, AttributeError)
_known: dict = {}  # findings of a kernel for its argument types: typing takes some 20 ms


def check(kernel: Callable, *arguments: object) -> tuple[Finding, ...]:
    """Findings for a kernel with these arguments, or numba types in their place; empty where all is well."""
    function = getattr(kernel, "py_func", kernel)
    try:
        for argument in arguments:
            if not isinstance(argument, types.Type):
                check_argument(argument)
        kinds = tuple(map(type_of, arguments))
    except (ValueError, TypeError, NumbaError) as error:
        return (Finding("does_not_compile", f"{error}: a GPU takes arrays, numbers and tuples of them"),)
    if (function, kinds) not in _known:
        _known[function, kinds] = refused(function) or tuple(_check(function, kinds, is_kernel=True))
    return _known[function, kinds]


def insist(kernel: Callable, *arguments: object) -> None:
    """Raise Findings where check() has any."""
    if findings := check(kernel, *arguments):
        raise Findings(kernel.__name__, findings)


def _check(function: Callable, kinds: tuple[types.Type, ...], is_kernel: bool) -> Iterator[Finding]:
    try:
        program = typed(function, kinds)
    except REFUSALS as error:
        yield _refused(function, error)
        return
    if is_kernel and (line := _returns_value(program)):
        what = "a kernel that returns a value"
        yield Finding(
            "does_not_compile", f"line {line} does not compile on a GPU ({what}); store it in an array", line
        )
    yield from _implicit_float64(program)
    for inner, inner_kinds in _device_functions(program):
        if (inner, inner_kinds) not in _known:
            _known[inner, inner_kinds] = tuple(_check(inner, inner_kinds, is_kernel=False))
        yield from _known[inner, inner_kinds]


def _implicit_float64(program: TypedKernel) -> Iterator[Finding]:
    """Findings where float32 takes part; without it float64 is what the kernel is about."""
    if not any(types.float32 in (kind, getattr(kind, "dtype", None)) for kind in program.types.values()):
        return
    roots = {}
    for line, reasons in ImplicitFloat64(program).operations():
        for root in reasons:
            roots.setdefault(root, set()).add(line)
    for (line, what, remedy), lines in sorted(roots.items()):
        line = line or min(lines)
        yield Finding("float64", f"line {line}: {what}, so {_computes(lines)} in float64; {remedy}", line)


def _returns_value(program: TypedKernel) -> int | None:
    """Line of the return of a kernel that gives something back."""
    for statement in program.statements:
        if isinstance(statement, ir.Return):
            kind = program.types[statement.value.name]
            if kind != types.none and not isinstance(kind, types.Omitted):
                return statement.loc.line
    return None


def _computes(lines: set[int]) -> str:
    *most, last = sorted(lines)
    if not most:
        return f"line {last} computes"
    return f"lines {', '.join(map(str, most))} and {last} compute"


def _device_functions(program: TypedKernel) -> Iterator[tuple[Callable, tuple[types.Type, ...]]]:
    for operation, signature in program.signatures.items():
        kind = program.types.get(operation.func.name) if getattr(operation, "op", "") == "call" else None
        if isinstance(kind, types.Dispatcher):
            yield kind.dispatcher.py_func, signature.args


def _refused(function: Callable, error: NumbaError) -> Finding:
    """Numba's error, shortened to what a learner can use."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    file = re.split(r"[/\\]", function.__code__.co_filename)[-1]
    places = re.findall(rf'File "[^"]*{re.escape(file)}", line (\d+)', text)
    line = int(places[0]) if places else getattr(getattr(error, "loc", None), "line", None)
    if (used := _use_of_numpy(function)) and line in (None, used[0]):
        line, text = used
    if "cannot be determined" in text and (named := _named_expression(function)):
        line = named
        text = "this version of Numba finds no type for a name that := assigns"
    line = line or function.__code__.co_firstlineno
    lines = [line.strip() for line in text.splitlines()]
    telling = [line for line in lines if any(phrase in line for phrase in REMEDIES)]
    text = (telling or [line for line in lines if line and not line.startswith("Failed in")])[0].rstrip(".: ")
    remedy = next((what for phrase, what in REMEDIES.items() if phrase in text), "write it in a simpler way")
    text = re.sub(r"Function\(<function ([\w.]+) at 0x[0-9a-f]+>\)", r"cuda.\1", text)
    return Finding("does_not_compile", f"line {line} does not compile on a GPU ({text}); {remedy}", line)


def _use_of_numpy(function: Callable) -> tuple[int, str] | None:
    """Line of the first @ or call of a NumPy function, and what Numba says of it.

    Once compiled CPU code has used it, the CUDA target fails further on, in other words or without a place.
    """
    tree = definition_of(function)
    for node in ast.walk(tree) if tree else ():
        if isinstance(getattr(node, "op", None), ast.MatMult):
            return node.lineno, "Invalid use of @"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            module = function.__globals__.get(getattr(node.func.value, "id", ""))
            called = getattr(module, node.func.attr, None) if module is np else None
            if called is not None and not isinstance(called, (type, np.ufunc)):
                text = f"Use of unsupported NumPy function 'numpy.{node.func.attr}'"
                return node.lineno, text
    return None


def _named_expression(function: Callable) -> int | None:
    """Line of the first `:=`."""
    tree = definition_of(function)
    return next((n.lineno for n in ast.walk(tree or ast.Pass()) if isinstance(n, ast.NamedExpr)), None)


OPERATIONS = ("binop", "inplace_binop", "unary", "call")
WIDE = types.float64
Root = tuple[int, str, str]  # line (0: the first that computes), what is float64 there, what to do


class ImplicitFloat64:
    """Where a kernel's float64 comes from."""

    def __init__(self, program: TypedKernel):
        self.program = program
        self.assigned: dict[str, list[ir.Assign]] = {}
        self.used: dict[str, list[ir.Stmt]] = {}
        for statement in program.statements:
            for variable in statement.list_vars():
                self.used.setdefault(variable.name, []).append(statement)
            if isinstance(statement, ir.Assign):
                self.assigned.setdefault(statement.target.name, []).append(statement)

    def operations(self) -> Iterator[tuple[int, set[Root]]]:
        """(line, roots) of every operation in float64 that the source does not state."""
        for statements in self.assigned.values():
            for assign in statements:
                roots = self._of_operation(assign, set()) if self._computes(assign.value) else set()
                if roots and not self.narrowed(assign) and None not in roots:
                    yield assign.loc.line, roots

    def _type(self, variable: ir.Var) -> types.Type:
        return self.program.types.get(variable.name)

    def _computes(self, value: object) -> bool:
        """Arithmetic or a function of numbers with float64 in it; a conversion is none."""
        if not isinstance(value, ir.Expr) or value.op not in OPERATIONS or self._converts(value):
            return False
        signature = self.program.signatures.get(value)
        return signature is not None and WIDE in (signature.return_type, *signature.args)

    def _converts(self, value: ir.Expr) -> bool:
        """np.float32(x), float(x), and device functions, which are looked at by themselves."""
        kind = self._type(value.func) if value.op == "call" else None
        return isinstance(kind, types.NumberClass | types.Dispatcher) or "float" in str(kind).split("'")

    def narrowed(self, assign: ir.Assign) -> bool:
        """x > 0.5, y[i] = 2 * x: a float32 and a number that float32 holds exactly need no float64."""
        if assign.value.op not in ("binop", "inplace_binop"):
            return False
        operands = self._operands(assign.value)
        exact = [self._is_exact(operand) for operand in operands]
        kinds = [self._type(operand) for operand in operands]
        if sum(exact) != 1 or types.float32 not in kinds:
            return False
        users = [user for user in self.used[assign.target.name] if user is not assign]
        return self._type(assign.target) == types.boolean or all(map(self._narrows, users))

    def _is_exact(self, variable: ir.Var) -> bool:
        values = [assign.value for assign in self.assigned.get(variable.name, [])]
        if len(values) != 1 or not isinstance(values[0], ir.Const | ir.Global | ir.FreeVar):
            return False
        number = values[0].value
        return isinstance(number, numbers.Real) and float(np.float32(number)) == number

    def _narrows(self, user: ir.Stmt) -> bool:
        """Does it store into float32, or convert to it?"""
        if isinstance(user, ir.SetItem | ir.StaticSetItem):
            return getattr(self._type(user.target), "dtype", None) == types.float32
        if not isinstance(user, ir.Assign):
            return False
        if isinstance(user.value, ir.Var):  # only another name for it
            others = [other for other in self.used[user.target.name] if other is not user]
            return all(map(self._narrows, others))
        return self._type(user.target) == types.float32 and user.value.op == "call"

    def _operands(self, value: ir.Expr) -> list[ir.Var]:
        called = {value.func.name} if value.op == "call" else set()
        return [operand for operand in value.list_vars() if operand.name not in called]

    def _of_operation(self, assign: ir.Assign, seen: set[str]) -> set[Root | None]:
        """Roots of the operands that are float64, or the operation itself where none is; None is meant so."""
        operands = self._operands(assign.value)
        if any(getattr(self._type(operand), "dtype", None) == WIDE for operand in operands):
            return {None}  # an atomic, or a function of a float64 array
        if wide := self._wide(operands):
            return self._roots_of_all(wide, seen)
        kinds = [self._type(operand) for operand in operands]
        line = assign.loc.line
        if types.float32 in kinds:
            numbers = [kind.literal_value for kind in kinds if isinstance(kind, types.IntegerLiteral)]
            if numbers:
                reason = f"the integer {numbers[0]} and a float32 are combined"
                return {(line, reason, f"write np.float32({numbers[0]})")}
            remedy = "convert the integer first: np.float32(i)"
            return {(line, "an integer and a float32 are combined", remedy)}
        if assign.value.op == "call":
            return {(line, "a function of an integer", "convert it first: math.sqrt(np.float32(i))")}
        return {(line, "two integers are divided", "convert them first: np.float32(i) / np.float32(n)")}

    def _wide(self, variables: list[ir.Var]) -> list[ir.Var]:
        """Those that are float64."""
        return [variable for variable in variables if self._type(variable) == WIDE]

    def _roots_of_all(self, variables: list[ir.Var], seen: set[str]) -> set[Root | None]:
        return set().union(*(self._roots(variable, seen) for variable in variables))

    def _roots(self, variable: ir.Var, seen: set[str]) -> set[Root | None]:
        """Everything that made this float64 variable float64."""
        if variable.name in seen:
            return set()
        seen.add(variable.name)
        roots = set()
        for assign in self.assigned.get(variable.name, []):
            roots |= self._of_value(assign, seen)
        return roots

    def _of_value(self, assign: ir.Assign, seen: set[str]) -> set[Root | None]:
        value = assign.value
        if isinstance(value, ir.Var):
            return self._roots(value, seen) if self._type(value) == WIDE else set()
        if isinstance(value, ir.Arg):
            return {(0, f"the argument {value.name} is a Python float", f"pass np.float32({value.name})")}
        if isinstance(value, ir.Const | ir.Global | ir.FreeVar):
            return {_literal(assign)}
        if value.op in ("phi", "cast"):
            inner = value.incoming_values if value.op == "phi" else [value.value]
            named = [variable for variable in inner if isinstance(variable, ir.Var)]
            return self._roots_of_all(self._wide(named), seen)
        if self._computes(value):
            return self._of_operation(assign, seen)
        called = value.op == "call" and isinstance(self._type(value.func), types.Dispatcher)
        return set() if called else {None}


def _literal(assign: ir.Assign) -> Root:
    number = assign.value.value
    name = getattr(assign.value, "name", None) or f"{number}"
    verb = "write" if assign.target.name.startswith("$") else "start with"
    constructor = f"np.float32({name})" if number else "np.float32(0)"
    return assign.loc.line, f"the number {name} is a float64", f"{verb} {constructor}"
